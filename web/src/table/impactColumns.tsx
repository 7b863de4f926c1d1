/** Columns of the table about the impact of a change. */
import { distanceText } from '../graph/labels';
import { Name } from '../shell/Name';
import { jobColumn, ownerColumn, timeColumn } from './columns';
import type { ImpactEffect, ImpactRow } from './impactRows';
import type { TableColumn } from './tableModel';

const SYMBOLS: Readonly<Record<ImpactEffect, string>> = {
  breaks: '!',
  'live reader': '!',
  affected: '~',
};
const MARKS: Readonly<Record<ImpactEffect, string>> = {
  breaks: 'mark-clear',
  'live reader': 'mark-clear',
  affected: 'mark-indirect',
};
const EFFECTS = Object.keys(SYMBOLS);

const kindsText = (row: ImpactRow) => row.kinds.map((each) => each.replaceAll('_', ' ')).join(', ');

export const IMPACT_COLUMNS: readonly TableColumn<ImpactRow>[] = [
  {
    id: 'effect',
    title: 'Effect',
    isEssential: true,
    width: '104px',
    cell: ({ effect }) => (
      <span className={`verdict ${MARKS[effect]}`}>
        <span aria-hidden="true">{SYMBOLS[effect]}</span> {effect}
      </span>
    ),
    text: ({ effect }) => effect,
    sortValue: ({ effect }) => EFFECTS.indexOf(effect),
  },
  { ...jobColumn((row: ImpactRow) => row.job, { width: 'minmax(96px, 1.1fr)' }), isEssential: true },
  ownerColumn((row) => row.owner, 'minmax(96px, 1fr)'),
  {
    id: 'column',
    title: 'Column',
    width: 'minmax(112px, 2.6fr)',
    isEssential: true,
    cell: ({ columnText }, fitting) => <Name className="mono" text={columnText} limit={fitting} />,
    text: ({ columnText }) => columnText,
  },
  {
    id: 'kind',
    title: 'Used as',
    width: 'minmax(88px, 1fr)',
    cell: (row, fitting) => <Name text={kindsText(row)} limit={fitting} />,
    text: (row) => row.kinds.join(' '),
  },
  {
    id: 'distance',
    title: 'Hops',
    width: '44px',
    minTableWidth: 900,
    cell: ({ distance }) =>
      distance === null ? null : <span className="hops">{distanceText(distance)}</span>,
    text: ({ distance }) => String(distance ?? ''),
    sortValue: ({ distance }) => distance,
  },
  { ...timeColumn<ImpactRow>('last', 'Last', (row) => row.last), minTableWidth: 560 },
];
