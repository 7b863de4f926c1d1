/** The code of a job: its SQL, or where its source is. */
import { visibleCode } from '../format/text';
import { CopyButton } from './CopyButton';
import { Name } from './Name';

/** More than this is not shown; the copy is complete. */
const MAX_CHARACTERS = 20_000;

/** Only addresses of web pages are links: an event may contain any text. */
const isWebAddress = (text: string) => /^https?:\/\//i.test(text);

function Location({ text }: { text: string }) {
  if (!isWebAddress(text)) return <Name className="mono" text={text} limit={72} />;
  return (
    <a href={text} target="_blank" rel="noreferrer">
      <Name className="mono" text={text} limit={72} />
    </a>
  );
}

interface CodeProps {
  readonly sql: string | null;
  readonly location: string | null;
}

export function Code({ sql, location }: CodeProps) {
  if (sql === null && location === null)
    return <p className="muted">The events of this job contain no code.</p>;
  return (
    <div className="code">
      {location !== null && (
        <p>
          <Location text={location} />
        </p>
      )}
      {sql !== null && (
        <>
          <pre className="expression mono">
            <bdi>{visibleCode(sql.slice(0, MAX_CHARACTERS))}</bdi>
          </pre>
          <CopyButton text={sql} label="SQL" />
        </>
      )}
    </div>
  );
}
