/** Asking the server: one function, one kind of failure, nothing asked twice. */

export type Params = Readonly<
  Record<string, string | number | boolean | null | undefined | readonly string[]>
>;

/** What went wrong, in the server's words, and what to do about it. */
export class Failure extends Error {
  constructor(
    readonly code: string,
    message: string,
    readonly hint: string | null,
    readonly candidates: readonly string[] = [],
  ) {
    super(message);
    this.name = 'Failure';
  }
}

export interface Answered<T> {
  readonly body: T;
  /** Version of the snapshot that answered; null when the server did not say. */
  readonly snapshot: string | null;
}

const TOKEN = 'colline.token';

/** Keeps the token for this tab only; null forgets it. */
export function keepToken(token: string | null): void {
  if (token === null) sessionStorage.removeItem(TOKEN);
  else sessionStorage.setItem(TOKEN, token);
  answers.clear();
}

const append = (search: URLSearchParams, name: string, value: Params[string]) => {
  for (const each of Array.isArray(value) ? value : [value]) {
    if (each !== null && each !== undefined) search.append(name, String(each));
  }
};

/** `api/v1/upstream?column=…`, relative, so that the page works under a path prefix. */
export function address(question: string, params: Params): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) append(search, name, value);
  const text = search.toString();
  return `api/v1/${question}${text ? `?${text}` : ''}`;
}

interface Problem {
  readonly error?: string;
  readonly code?: string;
  readonly hint?: string | null;
  readonly candidates?: readonly string[];
}

async function failureOf(response: Response): Promise<Failure> {
  const body = (await response.json().catch(() => ({}))) as Problem;
  const message = body.error ?? `the server answered ${response.status}`;
  return new Failure(body.code ?? String(response.status), message, body.hint ?? null, body.candidates);
}

async function request<T>(url: string): Promise<Answered<T>> {
  const token = sessionStorage.getItem(TOKEN);
  const headers: HeadersInit = token === null ? {} : { Authorization: `Bearer ${token}` };
  const response = await fetch(url, { headers, cache: 'no-cache' }).catch(() => {
    throw new Failure(
      'offline',
      'the server cannot be reached',
      'check that `colline serve` runs, then try again',
    );
  });
  if (!response.ok) throw await failureOf(response);
  return { body: (await response.json()) as T, snapshot: response.headers.get('X-Colline-Snapshot') };
}

const KEPT = 200;
const answers = new Map<string, Promise<Answered<unknown>>>();

/** The answer to a question; the same question is asked once until `forget`. A failure is never kept. */
export function ask<T>(question: string, params: Params = {}): Promise<Answered<T>> {
  const url = address(question, params);
  const known = answers.get(url) as Promise<Answered<T>> | undefined;
  if (known !== undefined) return known;
  const asked = request<T>(url);
  answers.set(url, asked);
  asked.catch(() => answers.delete(url));
  for (const oldest of answers.keys()) {
    if (answers.size <= KEPT) break;
    answers.delete(oldest);
  }
  return asked;
}

/** The answer as it is this moment, kept nowhere. */
export function askNow<T>(question: string, params: Params = {}): Promise<Answered<T>> {
  return request<T>(address(question, params));
}

/** Drops every kept answer: what is asked next comes from the newest snapshot. */
export function forget(): void {
  answers.clear();
}
