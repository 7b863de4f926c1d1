/** The layers of the lake with their tables, and the number of edges between layers. */
import { useMemo } from 'react';
import type { DatasetJson, LayerJson, Overview } from '../api/answers';
import { count, countOf } from '../format/text';
import { TableLink, ViewLink } from '../shell/Links';
import { shortName, tableKey } from '../state/names';
import { layerOrder } from '../table/cells';

const MAX_TABLES = 12;

/** The name of a table without its layer: `silver.customers` → `customers`. */
function nameInLayer(layer: string | null, { label, name }: DatasetJson): string {
  const text = label ?? shortName(name);
  return layer !== null && text.startsWith(`${layer}.`) ? text.slice(layer.length + 1) : text;
}

const layerName = (layer: string | null) => layer ?? 'no layer';

function Tables({ layer, tables }: { layer: LayerJson; tables: readonly DatasetJson[] }) {
  const total = layer.datasets;
  return (
    <ul className="tables">
      {tables.slice(0, MAX_TABLES).map((table) => (
        <li key={tableKey(table)}>
          <TableLink table={table} label={nameInLayer(layer.layer, table)} limit={60} wraps />
        </li>
      ))}
      {total > MAX_TABLES && tables.length > 0 && (
        <li>
          <ViewLink to={{ mode: 'tables', sort: 'layer' }}>{count(total - MAX_TABLES)} more</ViewLink>
        </li>
      )}
    </ul>
  );
}

function Layer({ layer, tables }: { layer: LayerJson; tables: readonly DatasetJson[] }) {
  return (
    <div className="layer-box" data-layer={layer.layer ?? 'none'}>
      <h3>{layerName(layer.layer)}</h3>
      <p className="figures">
        {countOf(layer.datasets, 'table')} · {countOf(layer.columns, 'column')}
        {layer.tagged ? ` · ${count(layer.tagged)} tagged` : ''}
      </p>
      <Tables layer={layer} tables={tables} />
    </div>
  );
}

function Flow({ flows, from, to }: { flows: Overview['flows']; from: LayerJson; to: LayerJson }) {
  const flow = flows.find((each) => each.from === from.layer && each.to === to.layer);
  return (
    <div className="flow">
      {flow !== undefined && (
        <span
          title={`${countOf(flow.edges, 'edge')} from ${layerName(from.layer)} to ${layerName(to.layer)}`}
        >
          <span className="figure">{count(flow.edges)}</span> <span aria-hidden="true">→</span>
          <span className="visually-hidden">
            edges from {layerName(from.layer)} to {layerName(to.layer)}
          </span>
        </span>
      )}
    </div>
  );
}

function OtherFlows({ overview, layers }: { overview: Overview; layers: readonly LayerJson[] }) {
  const indexOf = (layer: string | null) => layers.findIndex((each) => each.layer === layer);
  const others = overview.flows.filter(
    (flow) => indexOf(flow.to) !== indexOf(flow.from) + 1 && flow.edges > 0,
  );
  if (others.length === 0) return null;
  return (
    <p className="muted other-flows">
      Other edges:{' '}
      {others
        .map((flow) =>
          flow.from === flow.to
            ? `${count(flow.edges)} within ${layerName(flow.from)}`
            : `${count(flow.edges)} ${layerName(flow.from)} → ${layerName(flow.to)}`,
        )
        .join(', ')}
    </p>
  );
}

export function Layers({ overview, tables }: { overview: Overview; tables: readonly DatasetJson[] }) {
  const layers = useMemo(
    () => [...overview.layers].sort((a, b) => layerOrder(a.layer) - layerOrder(b.layer)),
    [overview],
  );
  return (
    <section className="box wide" aria-labelledby="layers-title">
      <h2 id="layers-title">Layers</h2>
      <div className="layers">
        {layers.map((layer, index) => {
          const next = layers[index + 1];
          return (
            <div key={layer.layer ?? ''} className="layer-and-flow">
              <Layer
                layer={layer}
                tables={tables.filter((table) => (table.layer ?? null) === (layer.layer ?? null))}
              />
              {next !== undefined && <Flow flows={overview.flows} from={layer} to={next} />}
            </div>
          );
        })}
      </div>
      <OtherFlows overview={overview} layers={layers} />
    </section>
  );
}
