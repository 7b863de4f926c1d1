/** The heads of verdict lists: personal data, readers, writers, changes. */
import type { Landing, Reader, Writer } from '../api/answers';
import { Moment, Name } from '../frame/Name';
import { SIGNS } from '../graph/marks';
import { shortName } from '../state/names';
import { Layer, layerOrder, VerdictMark } from './cells';
import type { ChangeRow } from './changeRows';
import type { Head } from './rows';

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
  {
    id: 'column',
    title: 'Column',
    width: 'minmax(120px, 1.2fr)',
    cell: (row) => <Name className="mono" text={row.field} limit={48} />,
    text: (row) => row.field,
  },
  {
    id: 'table',
    title: 'Table',
    width: 'minmax(140px, 1.4fr)',
    cell: (row) => <Name text={shortName(row.name)} limit={40} />,
    text: (row) => `${row.namespace} ${row.name}`,
    order: (row) => shortName(row.name),
  },
  {
    id: 'layer',
    title: 'Layer',
    width: '84px',
    cell: (row) => <Layer name={row.layer} />,
    text: (row) => row.layer ?? '',
    order: (row) => layerOrder(row.layer),
  },
  {
    id: 'hop',
    title: 'Masked at',
    width: '84px',
    cell: (row) => (row.verdict === 'masked' && row.hop != null ? `hop ${row.hop}` : ''),
    text: (row) => (row.hop == null ? '' : String(row.hop)),
    order: (row) => row.hop ?? null,
  },
  {
    id: 'job',
    title: 'By job',
    width: 'minmax(100px, 1fr)',
    cell: (row) => (row.job ? <Name text={row.job.name} limit={36} /> : null),
    text: (row) => row.job?.name ?? '',
  },
  {
    id: 'exit',
    title: 'Leaves by',
    width: '104px',
    cell: (row) => (row.exit ? <strong>{row.exit === true ? 'an exit' : row.exit}</strong> : ''),
    text: (row) => (row.exit ? String(row.exit) : ''),
  },
];

export const READERS: readonly Head<Reader>[] = [
  {
    id: 'job',
    title: 'Read by',
    width: 'minmax(160px, 2fr)',
    cell: (row) => <Name text={row.job?.name ?? 'unknown'} />,
    text: (row) => row.job?.name ?? '',
  },
  {
    id: 'use',
    title: 'As',
    width: '120px',
    cell: (row) => row.use ?? '',
    text: (row) => row.use ?? '',
  },
  {
    id: 'kind',
    title: 'In a',
    width: '100px',
    cell: (row) => row.kind ?? '',
    text: (row) => row.kind ?? '',
  },
  {
    id: 'last',
    title: 'Last read',
    width: '120px',
    cell: (row) => <Moment at={row.last_read} />,
    text: (row) => row.last_read ?? '',
  },
];

export const WRITERS: readonly Head<Writer>[] = [
  {
    id: 'job',
    title: 'Written by',
    width: 'minmax(140px, 1.4fr)',
    cell: (row) => <Name text={row.job.name} />,
    text: (row) => row.job.name,
  },
  {
    id: 'definition',
    title: 'As',
    width: 'minmax(160px, 2fr)',
    cell: (row) => (row.definition ? <Name className="mono" text={row.definition} limit={80} /> : ''),
    text: (row) => row.definition ?? '',
  },
  {
    id: 'conflict',
    title: 'Agreement',
    width: '120px',
    cell: (row) => (row.conflict ? <span className="mark-clear">! disagrees</span> : 'agrees'),
    text: (row) => (row.conflict ? 'disagrees' : 'agrees'),
  },
  {
    id: 'last',
    title: 'Last success',
    width: '120px',
    cell: (row) => <Moment at={row.job.last_success} />,
    text: (row) => row.job.last_success ?? '',
  },
];

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
  { id: 'kind', title: 'What', width: '88px', cell: (row) => row.kind, text: (row) => row.kind },
  {
    id: 'from',
    title: 'From',
    width: 'minmax(140px, 1.3fr)',
    cell: (row) => <Name className="mono" text={row.fromText} limit={48} />,
    text: (row) => row.fromText,
  },
  {
    id: 'to',
    title: 'To',
    width: 'minmax(140px, 1.3fr)',
    cell: (row) => <Name className="mono" text={row.toText} limit={48} />,
    text: (row) => row.toText,
  },
  {
    id: 'detail',
    title: 'How',
    width: 'minmax(120px, 1.2fr)',
    cell: (row) => <Name className="mono" text={row.detail} limit={48} />,
    text: (row) => row.detail,
  },
  {
    id: 'job',
    title: 'Job',
    width: 'minmax(100px, 1fr)',
    cell: (row) => <Name text={row.job} limit={36} />,
    text: (row) => row.job,
  },
  {
    id: 'at',
    title: 'When',
    width: '104px',
    cell: (row) => <Moment at={row.at} />,
    text: (row) => row.at ?? '',
  },
];
