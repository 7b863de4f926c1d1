/** From a lineage graph to a drawing: budget, cards, layout from the worker, edge paths. */
import { useEffect, useMemo, useState } from 'react';
import { fetchDataset } from '../api/queries';
import { freshness } from '../state/freshness';
import { readTableKey } from '../state/names';
import { useStore } from '../state/store';
import type { Grain } from '../state/url';
import { useView } from '../state/view';
import { type DrawnPart, limitToBudget } from './budget';
import { type Card, toCards } from './cards';
import { type EdgePath, routeEdges, rowAnchors, tableLinks } from './edgePaths';
import type { Layout } from './layout';
import { requestLayout } from './layoutClient';
import type { Column, LineageGraph } from './lineageGraph';
import { toColumn } from './toGraph';

/** In a larger drawing, only the tables that show all columns are loaded. Others have no “12 more”. */
const MAX_LOADED_TABLES = 40;

export interface Drawing extends DrawnPart {
  readonly cards: readonly Card[];
  readonly edgePaths: readonly EdgePath[];
  readonly layout: Layout;
  /** Everything that is loaded, with the tables that are folded. */
  readonly loaded: LineageGraph;
}

async function loadTableColumns(key: string, asOf: string | null) {
  const table = readTableKey(key);
  const answer = table === null ? null : await fetchDataset(table, asOf).catch(() => null);
  return [key, (answer?.columns ?? []).map((json) => toColumn(json, null))] as const;
}

/** All columns of these tables, by table key; empty until they are loaded. */
function useTableColumns(tables: readonly string[], asOf: string | null) {
  const [tableColumns, setTableColumns] = useState<ReadonlyMap<string, readonly Column[]>>(new Map());
  const tablesKey = JSON.stringify(tables);
  const epoch = useStore(freshness, (value) => value.epoch);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new epoch means that the snapshot is newer
  useEffect(() => {
    let mounted = true;
    const keys: string[] = JSON.parse(tablesKey);
    void Promise.all(keys.map((key) => loadTableColumns(key, asOf))).then((entries) => {
      if (mounted) setTableColumns(new Map(entries.filter(([, columns]) => columns.length > 0)));
    });
    return () => {
      mounted = false;
    };
  }, [tablesKey, asOf, epoch]);
  return tableColumns;
}

/** The drawing of a graph, which is a part of what is `loaded`. The previous drawing stays until the layout of the next one is ready. */
export function useDrawing(
  graph: LineageGraph,
  unknownReasons: ReadonlyMap<string, string>,
  filters: ReadonlyMap<string, string>,
  grain: Grain,
  loaded: LineageGraph = graph,
): Drawing | null {
  const namesOnly = grain === 'table';
  const asOf = useView((view) => view.asOf);
  const showAll = useView((view) => view.whole);
  const [drawing, setDrawing] = useState<Drawing | null>(null);
  const part = useMemo(() => limitToBudget(graph), [graph]);
  const tables = useMemo(() => {
    const all = toCards(part.graph)
      .filter((card) => !card.isGroup)
      .map((card) => card.key);
    if (namesOnly) return [];
    return all.length <= MAX_LOADED_TABLES ? all : all.filter((key) => showAll.includes(key));
  }, [part, showAll, namesOnly]);
  const tableColumns = useTableColumns(tables, asOf);
  const cards = useMemo(
    () =>
      toCards(part.graph, {
        tableColumns,
        showAll: new Set(showAll),
        filters,
        unknownReasons,
        namesOnly,
        loaded,
      }),
    [part, tableColumns, showAll, filters, unknownReasons, namesOnly, loaded],
  );
  useEffect(() => {
    const boxes = cards.map(({ key, height, layer, isGroup }) => ({
      id: key,
      height,
      layer: isGroup ? 'group' : layer,
    }));
    return requestLayout(boxes, tableLinks(part.graph), (layout) => {
      const edgePaths = routeEdges(part.graph, rowAnchors(cards, layout), layout);
      setDrawing({ ...part, cards, edgePaths, layout, loaded });
    });
  }, [cards, part, loaded]);
  return drawing;
}
