/** The heads of verdict lists: personal data, readers, writers, changes. */
import type { Landing, Reader, Writer } from '../api/answers';
import { SIGNS } from '../graph/labels';
import { VerdictMark } from './cells';
import type { ChangeRow } from './changeRows';
import { layerHead, momentHead, nameHead, tableHead, wordHead } from './columns';
import type { Head } from './tableModel';

const VERDICTS = ['clear', 'masked', 'indirect'];

export const LANDINGS: readonly Head<Landing>[] = [
  {
    id: 'verdict',
    title: 'Verdict',
    width: '104px',
    cell: (row) => <VerdictMark verdict={row.verdict} />,
    text: (row) => row.verdict,
    order: (row) => VERDICTS.indexOf(row.verdict),
  },
  nameHead('column', 'Column', (row) => row.field, { className: 'mono', width: 'minmax(120px, 1.2fr)' }),
  tableHead(),
  { ...layerHead((row: Landing) => row.layer), from: 860 },
  {
    id: 'hop',
    title: 'Masked at',
    width: '84px',
    cell: (row) => (row.verdict === 'masked' && row.hop != null ? `hop ${row.hop}` : ''),
    text: (row) => (row.hop == null ? '' : String(row.hop)),
    order: (row) => row.hop ?? null,
  },
  nameHead('job', 'By job', (row) => row.job?.name, { limit: 36 }),
  {
    id: 'exit',
    title: 'Leaves by',
    width: '104px',
    cell: (row) => (row.exit ? <strong>{row.exit === true ? 'an exit' : row.exit}</strong> : ''),
    text: (row) => (row.exit ? String(row.exit) : ''),
  },
];

export const READERS: readonly Head<Reader>[] = [
  nameHead('job', 'Read by', (row) => row.job?.name ?? 'unknown', { width: 'minmax(160px, 2fr)', limit: 60 }),
  wordHead('use', 'As', (row) => row.use, '120px'),
  wordHead('kind', 'In a', (row) => row.kind, '100px'),
  momentHead('last', 'Last read', (row) => row.last_read),
];

export const WRITERS: readonly Head<Writer>[] = [
  nameHead('job', 'Written by', (row) => row.job.name, { width: 'minmax(140px, 1.4fr)', limit: 60 }),
  nameHead('definition', 'As', (row) => row.definition, {
    className: 'mono',
    width: 'minmax(160px, 2fr)',
    limit: 80,
  }),
  {
    id: 'conflict',
    title: 'Agreement',
    width: '120px',
    cell: (row) => (row.conflict ? <span className="mark-clear">! disagrees</span> : 'agrees'),
    text: (row) => (row.conflict ? 'disagrees' : 'agrees'),
  },
  momentHead('last', 'Last success', (row) => row.job.last_success),
];

const END = { className: 'mono', width: 'minmax(140px, 1.3fr)', limit: 48 };

export const CHANGES: readonly Head<ChangeRow>[] = [
  {
    id: 'change',
    title: 'Change',
    width: '104px',
    cell: (row) => (
      <span className={`verdict mark-${row.change}`}>
        <span aria-hidden="true">{SIGNS[row.change].sign}</span> {row.change}
      </span>
    ),
    text: (row) => row.change,
  },
  wordHead('kind', 'What', (row) => row.kind, '88px'),
  nameHead('from', 'From', (row) => row.fromText, END),
  nameHead('to', 'To', (row) => row.toText, END),
  nameHead('detail', 'How', (row) => row.detail, { ...END, width: 'minmax(120px, 1.2fr)' }),
  nameHead('job', 'Job', (row) => row.job, { limit: 36 }),
  momentHead('at', 'When', (row) => row.at),
];
