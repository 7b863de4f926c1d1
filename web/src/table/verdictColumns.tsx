/** Columns of the tables about personal data, readers, writers and changes. */
import type { Landing, Reader, Writer } from '../api/answers';
import { MARK_LABELS } from '../graph/labels';
import { tableLabel } from '../state/names';
import { VerdictMark } from './cells';
import type { ChangeRow } from './changeRows';
import {
  jobColumn,
  layerColumn,
  nameColumn,
  ownerColumn,
  tableColumn,
  textColumn,
  timeColumn,
} from './columns';
import type { TableColumn } from './tableModel';

const VERDICTS = ['clear', 'masked', 'indirect'];

export const PERSONAL_DATA_COLUMNS: readonly TableColumn<Landing>[] = [
  {
    id: 'verdict',
    title: 'Verdict',
    width: '104px',
    cell: (row) => <VerdictMark verdict={row.verdict} />,
    text: (row) => row.verdict,
    sortValue: (row) => VERDICTS.indexOf(row.verdict),
  },
  nameColumn('column', 'Column', (row) => row.field, { className: 'mono', width: 'minmax(96px, 1.2fr)' }),
  tableColumn((row) => ({ ...row, label: tableLabel(row) })),
  { ...layerColumn((row: Landing) => row.layer), minTableWidth: 860 },
  {
    id: 'hop',
    title: 'Masked at',
    width: '84px',
    cell: (row) => (row.verdict === 'masked' && row.hop != null ? `hop ${row.hop}` : ''),
    text: (row) => (row.hop == null ? '' : String(row.hop)),
    sortValue: (row) => row.hop ?? null,
  },
  jobColumn((row) => row.job),
  {
    id: 'exit',
    title: 'Exported as',
    width: '104px',
    cell: (row) => (row.exit ? <strong>{row.exit === true ? 'export' : row.exit}</strong> : ''),
    text: (row) => (row.exit ? String(row.exit) : ''),
  },
];

export const READER_COLUMNS: readonly TableColumn<Reader>[] = [
  jobColumn((row) => row.job, { title: 'Read by', width: 'minmax(160px, 2fr)' }),
  ownerColumn((row) => row.owner, 'minmax(112px, 1fr)'),
  textColumn('use', 'Used as', (row) => row.use?.replaceAll('_', ' '), '104px'),
  textColumn('kind', 'Operation', (row) => row.kind, '80px'),
  nameColumn('into', 'Into', (row) => row.into?.label ?? row.into?.field, {
    className: 'mono',
    width: 'minmax(112px, 1.6fr)',
  }),
  timeColumn('last', 'Last read', (row) => row.last_read),
];

export const WRITER_COLUMNS: readonly TableColumn<Writer>[] = [
  jobColumn((row) => row.job, { title: 'Written by', width: 'minmax(140px, 1.4fr)' }),
  nameColumn('definition', 'Expression', (row) => row.definition, {
    className: 'mono',
    width: 'minmax(160px, 2fr)',
    limit: 80,
  }),
  {
    id: 'conflict',
    title: 'Consistency',
    width: '120px',
    cell: (row) => (row.conflict ? <span className="mark-clear">! conflicting</span> : 'consistent'),
    text: (row) => (row.conflict ? 'conflicting' : 'consistent'),
  },
  timeColumn('last', 'Last success', (row) => row.job.last_success),
];

const COLUMN_NAME = { className: 'mono', width: 'minmax(108px, 1.3fr)', limit: 48 };

export const CHANGE_COLUMNS: readonly TableColumn<ChangeRow>[] = [
  {
    id: 'change',
    title: 'Change',
    isEssential: true,
    width: '96px',
    cell: (row) => (
      <span className={`verdict mark-${row.change}`}>
        <span aria-hidden="true">{MARK_LABELS[row.change].symbol}</span> {row.change}
      </span>
    ),
    text: (row) => row.change,
  },
  textColumn('kind', 'Object', (row) => row.kind, '88px'),
  { ...nameColumn<ChangeRow>('from', 'From', (row) => row.fromText, COLUMN_NAME), isEssential: true },
  { ...nameColumn<ChangeRow>('to', 'To', (row) => row.toText, COLUMN_NAME), isEssential: true },
  nameColumn('detail', 'Expression', (row) => row.detail, { ...COLUMN_NAME, width: 'minmax(120px, 1.2fr)' }),
  jobColumn((row) => row.job),
  timeColumn('at', 'When', (row) => row.at),
];
