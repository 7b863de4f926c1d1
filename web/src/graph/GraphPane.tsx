/** Draws a lineage graph, with budget banner and legend, and connects it to the view. */
import { type ReactNode, type RefObject, useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { countOf } from '../format/text';
import { tableOf } from '../state/names';
import type { Grain, Side } from '../state/url';
import { navigate, openColumn, useView, viewStore } from '../state/view';
import { Canvas } from './Canvas';
import type { CanvasActions } from './canvasActions';
import { addExpansion, TABLES_PER_EXPANSION } from './columnGraph';
import { currentDrawing } from './currentDrawing';
import { type Highlight, highlightStore, hoverStore, type Mark, NO_HIGHLIGHT } from './highlight';
import type { LineageGraph } from './lineageGraph';
import { findPathThrough } from './path';
import { toTableGraph } from './tableGraph';
import { type Drawing, useDrawing } from './useDrawing';

interface GraphPaneProps {
  readonly graph: LineageGraph;
  /** The graph before a part of it was folded. */
  readonly loaded?: LineageGraph;
  /** Identifies what the graph shows; a new subject is fitted to the screen. */
  readonly subject: string;
  readonly focusColumn: string | null;
  readonly kind: Highlight['kind'];
  readonly marks?: ReadonlyMap<string, Mark>;
  readonly unknownReasons?: ReadonlyMap<string, string>;
  readonly canExpand: boolean;
  /** Whether the cards show columns; that of the view, unless it is given. */
  readonly grain?: Grain;
  readonly legend?: ReactNode;
}

const NO_MARKS: ReadonlyMap<string, Mark> = new Map();
const NO_TEXTS: ReadonlyMap<string, string> = new Map();

function BudgetBanner({ drawing }: { drawing: Drawing }) {
  const { groupedTables, omittedEdges, cards } = drawing;
  if (groupedTables === 0 && omittedEdges === 0) return null;
  const shown = countOf(
    cards.filter((card) => !card.isGroup).length,
    groupedTables > 0 ? 'nearest table' : 'table',
  );
  return (
    <p className="banner" role="status">
      Showing {groupedTables > 0 && 'the '}
      {shown}
      {groupedTables > 0 &&
        `; ${countOf(groupedTables, 'more table is', 'more tables are')} grouped by distance`}
      {omittedEdges > 0 && `; ${countOf(omittedEdges, 'edge is', 'edges are')} not drawn`}. The table below is
      complete.
    </p>
  );
}

function toggle(tables: readonly string[], table: string): string[] {
  return tables.includes(table) ? tables.filter((each) => each !== table) : [...tables, table];
}

/** Shows more neighbours on one side of a card. */
function expand(table: string, side: Side): void {
  const { open, column, depth } = viewStore.get();
  const isFocusTable = column !== null && depth === 1 && tableOf(column) === table;
  navigate({ open: addExpansion(open, table, side, isFocusTable ? TABLES_PER_EXPANSION : 0) });
}

function toggleSelection(key: string): void {
  navigate({ pick: key === '' || key === viewStore.get().pick ? null : key });
}

/** Publishes the path through a column, or none for null. */
function hoverPath(graph: LineageGraph, column: string | null): void {
  hoverStore.set(column === null ? null : findPathThrough(graph, column));
}

function unfold(table: string): void {
  navigate({ unfold: [...viewStore.get().unfold, table] });
}

function useCanvasActions(
  graph: RefObject<LineageGraph>,
  canExpand: boolean,
  setFilter: (table: string, text: string) => void,
): CanvasActions {
  return useMemo(
    () => ({
      select: toggleSelection,
      hover: (column) => hoverPath(graph.current, column),
      openColumn,
      unfold,
      expand: canExpand ? expand : null,
      toggleAllColumns: (table) => navigate({ whole: toggle(viewStore.get().whole, table) }, 'replace'),
      filter: setFilter,
    }),
    [graph, canExpand, setFilter],
  );
}

function useFilters() {
  const [filters, setFilters] = useState<ReadonlyMap<string, string>>(NO_TEXTS);
  const setFilter = useCallback(
    (table: string, text: string) => setFilters((previous) => new Map(previous).set(table, text)),
    [],
  );
  return { filters, setFilter };
}

/** Publishes the highlight of this graph while it is on screen. */
function useHighlight({ graph, focusColumn, kind, marks = NO_MARKS }: GraphPaneProps): void {
  const selected = useView((view) => view.pick);
  const hide = useView((view) => view.hide);
  useEffect(() => {
    const path = selected === null ? null : findPathThrough(graph, selected);
    const hiddenMarks = new Set(hide);
    highlightStore.set({ focus: focusColumn, path, columnMarks: marks, hiddenMarks, kind });
    return () => highlightStore.set(NO_HIGHLIGHT);
  }, [graph, selected, focusColumn, marks, hide, kind]);
}

export function GraphPane(props: GraphPaneProps) {
  const { subject, focusColumn, unknownReasons = NO_TEXTS, canExpand, legend } = props;
  const grainOfView = useView((view) => view.grain);
  const grain = props.grain ?? grainOfView;
  const graph = useMemo(
    () => (grain === 'table' ? toTableGraph(props.graph) : props.graph),
    [props.graph, grain],
  );
  const { filters, setFilter } = useFilters();
  const drawing = useDrawing(graph, unknownReasons, filters, grain, props.loaded);
  const drawnGraph = useRef(graph);
  drawnGraph.current = graph;
  const actions = useCanvasActions(drawnGraph, canExpand && grain === 'column', setFilter);
  useHighlight({ ...props, graph });
  useEffect(() => () => hoverStore.set(null), []);
  useEffect(() => {
    currentDrawing.set(drawing);
    return () => currentDrawing.set(null);
  }, [drawing]);
  if (drawing === null || drawing.cards.length === 0) return null;
  return (
    <>
      <BudgetBanner drawing={drawing} />
      <Canvas
        drawing={drawing}
        subject={`${subject} ${grain}`}
        focusTable={focusColumn === null ? null : tableOf(focusColumn)}
        actions={actions}
      />
      {legend !== undefined && <div className="legend">{legend}</div>}
    </>
  );
}
