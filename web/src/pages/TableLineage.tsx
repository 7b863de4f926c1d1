/** Lineage between tables: the tables upstream and downstream of one, as a graph and as a list. */
import { useMemo } from 'react';
import type { Dataset, TableTraversal } from '../api/answers';
import { fetchTableTraversal } from '../api/queries';
import { useQuery } from '../api/useQuery';
import { GraphPane } from '../graph/GraphPane';
import { EMPTY_GRAPH } from '../graph/lineageGraph';
import { graphFromTables } from '../graph/tableGraph';
import { DetailPanel } from '../panel/DetailPanel';
import { GraphScreen } from '../shell/GraphScreen';
import { QueryResult } from '../shell/QueryState';
import { columnKey, shortName, tableKey } from '../state/names';
import { navigate, tablePage, useView } from '../state/view';
import { AnswerTable } from '../table/AnswerTable';
import { REACHED_TABLE_COLUMNS, type ReachedTable } from '../table/catalogColumns';

interface BothSides {
  readonly up: TableTraversal;
  readonly down: TableTraversal;
}

async function loadBothSides(card: Dataset, asOf: string | null): Promise<BothSides> {
  const [up, down] = await Promise.all([
    fetchTableTraversal('up', card.table, asOf),
    fetchTableTraversal('down', card.table, asOf),
  ]);
  return { up, down };
}

const reachedTables = ({ up, down }: BothSides): ReachedTable[] => [
  ...up.datasets.map((table) => ({ ...table, distance: -table.distance })),
  ...down.datasets,
];

export function TableLineage({ card }: { card: Dataset }) {
  const asOf = useView((view) => view.asOf);
  const key = tableKey(card.table);
  const query = useQuery(`${key} ${asOf}`, () => loadBothSides(card, asOf));
  const sides = query.value;
  const graph = useMemo(
    () =>
      sides === null
        ? EMPTY_GRAPH
        : graphFromTables(card.table, [
            { side: 'up', answer: sides.up },
            { side: 'down', answer: sides.down },
          ]),
    [card, sides],
  );
  const focus = columnKey({ ...card.table, field: '*' });
  return (
    <GraphScreen
      state={query.state}
      graph={
        <QueryResult query={query}>
          {() =>
            graph.edges.size === 0 ? (
              <p className="empty">No upstream or downstream tables.</p>
            ) : (
              <GraphPane
                graph={graph}
                subject={key}
                focusColumn={focus}
                kind="plain"
                canExpand={false}
                grain="table"
              />
            )
          }
        </QueryResult>
      }
      answer={
        sides !== null && (
          <AnswerTable
            summary={{
              ...sides.up,
              verdict: [sides.up.verdict, sides.down.verdict],
              left_out: sides.up.left_out + sides.down.left_out,
            }}
            exportName={`${card.table.label ?? shortName(card.table.name)}-tables`}
            label="tables upstream and downstream"
            columns={REACHED_TABLE_COLUMNS}
            rows={reachedTables(sides)}
            rowKey={(row) => `${row.distance} ${tableKey(row)}`}
            onOpen={(row) => navigate(tablePage(tableKey(row)))}
            emptyText="No upstream or downstream tables."
          />
        )
      }
      panel={<DetailPanel graph={graph} defaultColumn={null} />}
    />
  );
}
