/** The controls above the graph: which question, which way, how far, indirect or not. */
import { DIRECTIONS, QUESTIONS, type Question } from '../state/url';
import { go, useView } from '../state/view';

const DIRECTION_WORDS = { both: 'Both ways', up: 'Upstream', down: 'Downstream' } as const;
const DEPTHS = [1, 2, 3, 5, 10];

export const QUESTION_WORDS: Readonly<Record<Question, string>> = {
  lineage: 'Lineage',
  impact: 'Impact',
  droppable: 'May I drop it?',
  writers: 'Who writes it?',
};

function Questions() {
  const ask = useView((view) => view.ask);
  return (
    <fieldset className="segments">
      <legend className="unseen">question</legend>
      {QUESTIONS.map((each) => (
        <button
          key={each}
          type="button"
          aria-pressed={each === ask}
          onClick={() => go({ ask: each, sort: null, pick: null })}
        >
          {QUESTION_WORDS[each]}
        </button>
      ))}
    </fieldset>
  );
}

export function IndirectSwitch() {
  const indirect = useView((view) => view.indirect);
  return (
    <label className="switch-label" title="filters, join keys, conditions (i)">
      <input type="checkbox" checked={indirect} onChange={() => go({ indirect: !indirect })} />
      <span className="sample dotted" aria-hidden="true" /> indirect
    </label>
  );
}

export function LineageTools() {
  const direction = useView((view) => view.direction);
  const depth = useView((view) => view.depth);
  const ask = useView((view) => view.ask);
  return (
    <>
      <Questions />
      {ask !== 'impact' && (
        <>
          <label>
            <span className="unseen">direction</span>
            <select
              value={direction}
              onChange={(event) => go({ direction: event.target.value as typeof direction, open: [] })}
            >
              {DIRECTIONS.map((each) => (
                <option key={each} value={each}>
                  {DIRECTION_WORDS[each]}
                </option>
              ))}
            </select>
          </label>
          <label>
            <span className="unseen">depth</span>
            <select value={depth} onChange={(event) => go({ depth: Number(event.target.value), open: [] })}>
              {DEPTHS.map((each) => (
                <option key={each} value={each}>
                  {each === 1 ? '1 hop' : `${each} hops`}
                </option>
              ))}
            </select>
          </label>
          <IndirectSwitch />
        </>
      )}
    </>
  );
}
