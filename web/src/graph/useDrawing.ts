/** From a picture to what is on the canvas: budget, cards, places from the worker, lines. */
import { useEffect, useMemo, useState } from 'react';
import { dataset } from '../api/queries';
import { readTableKey } from '../state/names';
import { useView } from '../state/view';
import { type Budgeted, withinBudget } from './budget';
import { type Card, toCards } from './cards';
import { anchorsOf, type Line, linksOf, toLines } from './edgePaths';
import type { Layout } from './layout';
import { requestLayout } from './layoutClient';
import type { Column, Picture } from './lineageGraph';
import { toColumn } from './toGraph';

/** Tables whose size is asked for, so that “12 more” is known before the click. */
const SIZED = 40;

export interface Drawing extends Budgeted {
  readonly cards: readonly Card[];
  readonly lines: readonly Line[];
  readonly layout: Layout;
}

/** All columns of the first tables on screen and of each opened one, as they arrive. */
function useKnownTables(tables: readonly string[], asOf: string | null) {
  const [known, setKnown] = useState<ReadonlyMap<string, readonly Column[]>>(new Map());
  const wanted = JSON.stringify(tables); // a name may hold any character
  useEffect(() => {
    let live = true;
    const load = async (key: string) => {
      const ref = readTableKey(key);
      const table = ref === null ? null : await dataset(ref, asOf).catch(() => null);
      return [key, (table?.columns ?? []).map((json) => toColumn(json, null))] as const;
    };
    const keys: string[] = JSON.parse(wanted);
    void Promise.all(keys.map(load)).then((entries) => {
      if (live) setKnown(new Map(entries.filter(([, columns]) => columns.length > 0)));
    });
    return () => {
      live = false;
    };
  }, [wanted, asOf]);
  return known;
}

/** The drawing of a picture; the one before stays until the next is laid out. */
export function useDrawing(
  picture: Picture,
  unknown: ReadonlyMap<string, string>,
  filters: ReadonlyMap<string, string>,
): Drawing | null {
  const asOf = useView((view) => view.asOf);
  const opened = useView((view) => view.whole);
  const [drawing, setDrawing] = useState<Drawing | null>(null);
  const budgeted = useMemo(() => withinBudget(picture), [picture]);
  const tables = useMemo(() => {
    const drawn = toCards(budgeted.picture).map((card) => card.key);
    const sized = drawn.length <= SIZED ? drawn : drawn.filter((key) => opened.includes(key));
    return sized;
  }, [budgeted, opened]);
  const known = useKnownTables(tables, asOf);
  const cards = useMemo(
    () => toCards(budgeted.picture, { known, whole: new Set(opened), filters, unknown }),
    [budgeted, known, opened, filters, unknown],
  );
  useEffect(() => {
    const boxes = cards.map((card) => ({ id: card.key, height: card.height }));
    return requestLayout(boxes, linksOf(budgeted.picture), (layout) => {
      const lines = toLines(budgeted.picture, anchorsOf(cards, layout), layout);
      setDrawing({ ...budgeted, cards, lines, layout });
    });
  }, [cards, budgeted]);
  return drawing;
}
