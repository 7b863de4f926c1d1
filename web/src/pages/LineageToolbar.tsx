/** Controls above the graph: question, direction, depth, indirect lineage. */
import { DIRECTIONS, QUESTIONS, type Question, SCHEMA_CHANGES, type SchemaChange } from '../state/url';
import { navigate, useView } from '../state/view';

const DIRECTION_LABELS = { both: 'Upstream and downstream', up: 'Upstream', down: 'Downstream' } as const;
const DEPTHS = [1, 2, 3, 5, 10];

const QUESTION_LABELS: Readonly<Record<Question, string>> = {
  lineage: 'Lineage',
  impact: 'Impact',
  droppable: 'May I drop it?',
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

const DIRECTION_SYMBOLS = { both: '↔', up: '←', down: '→' } as const;

function DirectionButtons() {
  const direction = useView((view) => view.direction);
  return (
    <fieldset className="segments">
      <legend className="visually-hidden">Direction</legend>
      {DIRECTIONS.map((each) => (
        <button
          key={each}
          type="button"
          aria-pressed={each === direction}
          aria-label={DIRECTION_LABELS[each]}
          title={DIRECTION_LABELS[each]}
          onClick={() => navigate({ direction: each, open: [] })}
        >
          {DIRECTION_SYMBOLS[each]}
        </button>
      ))}
    </fieldset>
  );
}

function DepthSelect() {
  const depth = useView((view) => view.depth);
  return (
    <label>
      <span className="visually-hidden">Depth</span>
      <select
        value={depth ?? ''}
        onChange={(event) => navigate({ depth: Number(event.target.value) || null, open: [] })}
      >
        <option value="">Whole path</option>
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
      Indirect
    </label>
  );
}

function TablesOnlyButton() {
  const isPressed = useView((view) => view.grain === 'table');
  return (
    <button
      type="button"
      className="toggle"
      aria-pressed={isPressed}
      title="Show tables without their columns"
      onClick={() => navigate({ grain: isPressed ? 'column' : 'table' }, 'replace')}
    >
      Tables only
    </button>
  );
}

const CHANGE_LABELS: Readonly<Record<SchemaChange, string>> = {
  drop: 'Drop',
  rename: 'Rename',
  type: 'Change type',
};

function ChangeButtons() {
  const change = useView((view) => view.change);
  return (
    <fieldset className="segments">
      <legend className="visually-hidden">Change</legend>
      {SCHEMA_CHANGES.map((each) => (
        <button
          key={each}
          type="button"
          aria-pressed={each === change}
          onClick={() => navigate({ change: each, pick: null })}
        >
          {CHANGE_LABELS[each]}
        </button>
      ))}
    </fieldset>
  );
}

export function LineageToolbar() {
  const question = useView((view) => view.ask);
  return (
    <>
      <Questions />
      {question === 'impact' && <ChangeButtons />}
      {(question === 'lineage' || question === 'writers') && (
        <>
          <DirectionButtons />
          <DepthSelect />
          <IndirectCheckbox />
        </>
      )}
      <TablesOnlyButton />
    </>
  );
}
