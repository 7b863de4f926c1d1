/** The find field of the graph (key `f`): marks the rows and tables that match, and moves to the next one on Enter. */
import { Panel, useReactFlow } from '@xyflow/react';
import { type KeyboardEvent, useCallback, useEffect, useMemo, useState } from 'react';
import { count, countOf } from '../format/text';
import { useStore } from '../state/store';
import { useActions } from './canvasActions';
import { CARD_WIDTH, HEADER_HEIGHT, ROW_HEIGHT } from './cards';
import { type Match, matchesInDrawing, matchesInFolds } from './findInGraph';
import { findOpen } from './findState';
import { foundStore, NOTHING_FOUND } from './highlight';
import type { Drawing } from './useDrawing';
import { MIN_READABLE_ZOOM } from './viewport';

function resultText(text: string, matches: readonly Match[], position: number, folded: number): string {
  if (text === '') return '';
  if (matches.length > 0) return `${count(position + 1)} of ${count(matches.length)}`;
  return folded > 0 ? `In ${countOf(folded, 'folded table')}; Enter shows it` : 'No matches';
}

/** Moves the canvas so that the match is in the middle. */
function useShowMatch(drawing: Drawing) {
  const flow = useReactFlow();
  return useCallback(
    ({ table, row }: Match) => {
      const position = drawing.layout.positions.get(table);
      if (position === undefined) return;
      const y = position.y + HEADER_HEIGHT + Math.max(0, row) * ROW_HEIGHT;
      const zoom = Math.max(flow.getZoom(), MIN_READABLE_ZOOM);
      void flow.setCenter(position.x + CARD_WIDTH / 2, y, { zoom });
    },
    [drawing, flow],
  );
}

function FindField({ drawing }: { drawing: Drawing }) {
  const [text, setText] = useState('');
  const [position, setPosition] = useState(0);
  const matches = useMemo(() => matchesInDrawing(drawing.cards, text), [drawing, text]);
  const folded = useMemo(() => matchesInFolds(drawing.cards, drawing.loaded, text), [drawing, text]);
  const { unfold } = useActions();
  const show = useShowMatch(drawing);
  const current = matches[position];
  useEffect(() => {
    const columns = new Set(matches.map((match) => match.key));
    foundStore.set({ columns, current: current?.key ?? null });
    if (current !== undefined) show(current);
    return () => foundStore.set(NOTHING_FOUND);
  }, [matches, current, show]);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Escape') findOpen.set(false);
    else if (event.key === 'Enter' && matches.length > 0)
      setPosition((position + (event.shiftKey ? matches.length - 1 : 1)) % matches.length);
    else if (event.key === 'Enter' && folded[0] !== undefined) unfold(folded[0]);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <Panel position="top-left" className="find-field">
      <input
        // biome-ignore lint/a11y/noAutofocus: the user has just opened the field
        autoFocus
        type="search"
        aria-label="Find in the graph"
        placeholder="Find in the graph"
        maxLength={200}
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          setPosition(0);
        }}
        onKeyDown={onKeyDown}
      />
      <span role="status">{resultText(text, matches, position, folded.length)}</span>
    </Panel>
  );
}

export function GraphFind({ drawing }: { drawing: Drawing }) {
  const isOpen = useStore(findOpen, (value) => value);
  useEffect(() => () => findOpen.set(false), []);
  return isOpen ? <FindField drawing={drawing} /> : null;
}
