/** Controls above the graph: question, direction, depth, indirect lineage. */
import { DIRECTIONS, QUESTIONS, type Question } from '../state/url';
import { navigate, useView } from '../state/view';

const DIRECTION_LABELS = { both: 'Both', up: 'Upstream', down: 'Downstream' } as const;
const DEPTHS = [1, 2, 3, 5, 10];

const QUESTION_LABELS: Readonly<Record<Question, string>> = {
  lineage: 'Lineage',
  impact: 'Impact',
  droppable: 'Can I drop it?',
  writers: 'Who writes it?',
};

function Questions() {
  const current = useView((view) => view.ask);
  return (
    <fieldset className="segments">
      <legend className="visually-hidden">Question</legend>
      {QUESTIONS.map((question) => (
        <button
          key={question}
          type="button"
          aria-pressed={question === current}
          onClick={() => navigate({ ask: question, sort: null, pick: null })}
        >
          {QUESTION_LABELS[question]}
        </button>
      ))}
    </fieldset>
  );
}

function DirectionSelect() {
  const direction = useView((view) => view.direction);
  return (
    <label>
      <span className="visually-hidden">Direction</span>
      <select
        value={direction}
        onChange={(event) => navigate({ direction: event.target.value as typeof direction, open: [] })}
      >
        {DIRECTIONS.map((each) => (
          <option key={each} value={each}>
            {DIRECTION_LABELS[each]}
          </option>
        ))}
      </select>
    </label>
  );
}

function DepthSelect() {
  const depth = useView((view) => view.depth);
  return (
    <label>
      <span className="visually-hidden">Depth</span>
      <select value={depth} onChange={(event) => navigate({ depth: Number(event.target.value), open: [] })}>
        {DEPTHS.map((each) => (
          <option key={each} value={each}>
            {each === 1 ? '1 hop' : `${each} hops`}
          </option>
        ))}
      </select>
    </label>
  );
}

function IndirectCheckbox() {
  const indirect = useView((view) => view.indirect);
  return (
    <label className="checkbox" title="Filters, join keys and conditions (i)">
      <input type="checkbox" checked={indirect} onChange={() => navigate({ indirect: !indirect })} />
      <span className="line-sample" aria-hidden="true" /> Indirect
    </label>
  );
}

export function LineageToolbar() {
  const question = useView((view) => view.ask);
  return (
    <>
      <Questions />
      {question !== 'impact' && (
        <>
          <DirectionSelect />
          <DepthSelect />
          <IndirectCheckbox />
        </>
      )}
    </>
  );
}
