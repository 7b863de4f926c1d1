/** A picture on the canvas with everything around it: states, budget, legend, export, selection. */
import { Panel } from '@xyflow/react';
import { type ReactNode, useEffect, useMemo, useState } from 'react';
import { count, countOf } from '../format/text';
import { tableOf } from '../state/names';
import type { Side } from '../state/url';
import { focus, go, useView, viewStore } from '../state/view';
import { GROUP } from './budget';
import { Canvas } from './Canvas';
import type { CanvasActions } from './canvasActions';
import { opened, STEP } from './columnGraph';
import { setDrawn } from './currentDrawing';
import { type Mark, type Paint, PLAIN, paint } from './highlight';
import type { Picture } from './lineageGraph';
import { pathThrough } from './path';
import { type Drawing, useDrawing } from './useDrawing';

interface GraphPaneProps {
  readonly picture: Picture;
  readonly subject: string;
  readonly focusColumn: string | null;
  readonly kind: Paint['kind'];
  readonly marks?: ReadonlyMap<string, Mark>;
  readonly unknown?: ReadonlyMap<string, string>;
  readonly canExpand: boolean;
  readonly legend?: ReactNode;
}

const NO_MARKS: ReadonlyMap<string, Mark> = new Map();
const NO_TEXT: ReadonlyMap<string, string> = new Map();

function Budget({ drawing }: { drawing: Drawing }) {
  const { groupedTables, leftEdges, cards } = drawing;
  if (groupedTables === 0 && leftEdges === 0) return null;
  const alone = cards.filter((card) => card.namespace !== GROUP).length;
  return (
    <Panel position="top-center" className="banner" role="status">
      Drawn: the {countOf(alone, 'nearest table')}
      {groupedTables > 0 &&
        `; ${countOf(groupedTables, 'further table is', 'further tables are')} grouped by distance`}
      {leftEdges > 0 && `; ${count(leftEdges)} lines left out`}. The list has all.
    </Panel>
  );
}

function toggled(whole: readonly string[], table: string): string[] {
  return whole.includes(table) ? whole.filter((each) => each !== table) : [...whole, table];
}

/** Eight more neighbours at one side of a card. */
function expand(table: string, side: Side): void {
  const { open, column, depth } = viewStore.get();
  const base = column !== null && depth === 1 && tableOf(column) === table ? STEP : 0;
  go({ open: opened(open, table, side, base) });
}

/** What cards can do here; one object while the mode lasts. */
function useCanvasActions(
  canExpand: boolean,
  setFilter: (table: string, text: string) => void,
): CanvasActions {
  return useMemo(
    () => ({
      pick: (key) => {
        const { pick } = viewStore.get();
        go({ pick: key === '' || key === pick ? null : key });
      },
      focus,
      expand: canExpand ? expand : null,
      whole: (table) => go({ whole: toggled(viewStore.get().whole, table) }, 'replace'),
      filter: setFilter,
    }),
    [canExpand, setFilter],
  );
}

function useFilters() {
  const [filters, setFilters] = useState<ReadonlyMap<string, string>>(NO_TEXT);
  const setFilter = useMemo(
    () => (table: string, text: string) => setFilters((old) => new Map(old).set(table, text)),
    [],
  );
  return { filters, setFilter };
}

export function GraphPane(props: GraphPaneProps) {
  const {
    picture,
    subject,
    focusColumn,
    kind,
    marks = NO_MARKS,
    unknown = NO_TEXT,
    canExpand,
    legend,
  } = props;
  const pick = useView((view) => view.pick);
  const hide = useView((view) => view.hide);
  const { filters, setFilter } = useFilters();
  const drawing = useDrawing(picture, unknown, filters);
  const actions = useCanvasActions(canExpand, setFilter);
  useEffect(() => {
    const path = pick === null ? null : pathThrough(picture, pick);
    paint.set({ focus: focusColumn, path, rows: marks, hidden: new Set(hide), kind });
    return () => paint.set(PLAIN);
  }, [picture, pick, focusColumn, marks, hide, kind]);
  useEffect(() => {
    setDrawn(drawing);
    return () => setDrawn(null);
  }, [drawing]);
  if (drawing === null || drawing.cards.length === 0) return null;
  return (
    <Canvas
      drawing={drawing}
      subject={subject}
      focusTable={focusColumn === null ? null : tableOf(focusColumn)}
      actions={actions}
    >
      <Budget drawing={drawing} />
      {legend !== undefined && (
        <Panel position="bottom-left" className="legend">
          {legend}
        </Panel>
      )}
    </Canvas>
  );
}
