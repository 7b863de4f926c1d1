/** The layers from source to consumer, with their tables and the flow between them. */
import { useMemo } from 'react';
import type { DatasetJson, LayerJson, Overview } from '../api/answers';
import { count, countOf } from '../format/text';
import { Name } from '../shell/Name';
import { shortName, tableKey } from '../state/names';
import { layerOrder } from '../table/cells';
import { openTable } from './openTable';

const SHOWN = 12;

/** A table's name inside its own layer: `customers` of `silver.customers`. */
function nameIn(layer: string | null, { label, name }: DatasetJson): string {
  const text = label ?? shortName(name);
  return layer !== null && text.startsWith(`${layer}.`) ? text.slice(layer.length + 1) : text;
}

function Tables({ layer, tables }: { layer: LayerJson; tables: readonly DatasetJson[] }) {
  const total = layer.datasets;
  return (
    <ul className="tables">
      {tables.slice(0, SHOWN).map((table) => (
        <li key={tableKey(table)}>
          <button type="button" className="link" onClick={() => void openTable(table)}>
            <Name text={nameIn(layer.layer, table)} limit={30} />
          </button>
        </li>
      ))}
      {total > SHOWN && tables.length > 0 && <li className="muted">{count(total - SHOWN)} more</li>}
    </ul>
  );
}

function Layer({ layer, tables }: { layer: LayerJson; tables: readonly DatasetJson[] }) {
  return (
    <div className="layer-box" data-layer={layer.layer ?? 'none'}>
      <h3>{layer.layer ?? 'no layer'}</h3>
      <p className="figures">
        {countOf(layer.datasets, 'table')} · {countOf(layer.columns, 'column')}
        {layer.tagged ? ` · ${count(layer.tagged)} tagged` : ''}
      </p>
      <Tables layer={layer} tables={tables} />
    </div>
  );
}

const name = (layer: string | null) => layer ?? 'no layer';

function Flow({ flows, from, to }: { flows: Overview['flows']; from: LayerJson; to: LayerJson }) {
  const flow = flows.find((each) => each.from === from.layer && each.to === to.layer);
  return (
    <div className="flow">
      {flow !== undefined && (
        <span title={`${countOf(flow.edges, 'edge')} from ${name(from.layer)} to ${name(to.layer)}`}>
          <span className="figure">{count(flow.edges)}</span> <span aria-hidden="true">→</span>
          <span className="unseen">
            edges from {name(from.layer)} to {name(to.layer)}
          </span>
        </span>
      )}
    </div>
  );
}

function OtherFlows({ overview, layers }: { overview: Overview; layers: readonly LayerJson[] }) {
  const place = (layer: string | null) => layers.findIndex((each) => each.layer === layer);
  const others = overview.flows.filter((flow) => place(flow.to) !== place(flow.from) + 1 && flow.edges > 0);
  if (others.length === 0) return null;
  return (
    <p className="muted other-flows">
      also{' '}
      {others
        .map((flow) =>
          flow.from === flow.to
            ? `${count(flow.edges)} inside ${name(flow.from)}`
            : `${count(flow.edges)} ${name(flow.from)} → ${name(flow.to)}`,
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
