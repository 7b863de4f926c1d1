/** HTTP client of the server's API: one function to fetch, one error class, and a cache of answers. */

import { ROOT } from '../state/root';

export type Params = Readonly<
  Record<string, string | number | boolean | null | undefined | readonly string[]>
>;

/** An API error: the server's message, and a hint about what to do. */
export class ApiError extends Error {
  constructor(
    readonly code: string,
    message: string,
    readonly hint: string | null,
    readonly candidates: readonly string[] = [],
  ) {
    super(message);
    this.name = 'ApiError';
  }
}

export interface ApiResponse<T> {
  readonly body: T;
  /** Version of the snapshot that the answer comes from; null when the server did not send it. */
  readonly snapshot: string | null;
}

const TOKEN_KEY = 'colline.token';
const MAX_CACHED_ANSWERS = 200;
const cache = new Map<string, Promise<ApiResponse<unknown>>>();

/** Stores the token for this browser tab; null removes it. */
export function storeToken(token: string | null): void {
  if (token === null) sessionStorage.removeItem(TOKEN_KEY);
  else sessionStorage.setItem(TOKEN_KEY, token);
  cache.clear();
}

function appendParam(search: URLSearchParams, name: string, value: Params[string]): void {
  for (const each of Array.isArray(value) ? value : [value]) {
    if (each !== null && each !== undefined) search.append(name, String(each));
  }
}

/** `api/v1/upstream?column=…`, relative to the root of the server. */
export function apiUrl(query: string, params: Params): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) appendParam(search, name, value);
  const text = search.toString();
  return `api/v1/${query}${text ? `?${text}` : ''}`;
}

interface ErrorBody {
  readonly error?: string;
  readonly code?: string;
  readonly hint?: string | null;
  readonly candidates?: readonly string[];
}

async function readError(response: Response): Promise<ApiError> {
  const body = (await response.json().catch(() => ({}))) as ErrorBody;
  const message = body.error ?? `The server returned status ${response.status}.`;
  return new ApiError(body.code ?? String(response.status), message, body.hint ?? null, body.candidates);
}

async function request<T>(url: string): Promise<ApiResponse<T>> {
  const token = sessionStorage.getItem(TOKEN_KEY);
  const headers: HeadersInit = token === null ? {} : { Authorization: `Bearer ${token}` };
  const response = await fetch(`${ROOT}${url}`, { headers, cache: 'no-cache' }).catch(() => {
    throw new ApiError(
      'offline',
      'Cannot reach the server.',
      'Check that `colline serve` is running, then try again.',
    );
  });
  if (!response.ok) throw await readError(response);
  return { body: (await response.json()) as T, snapshot: response.headers.get('X-Colline-Snapshot') };
}

/** The answer to a query, from the cache when it was fetched before. Errors are not cached. */
export function fetchCached<T>(query: string, params: Params = {}): Promise<ApiResponse<T>> {
  const url = apiUrl(query, params);
  const cached = cache.get(url) as Promise<ApiResponse<T>> | undefined;
  if (cached !== undefined) return cached;
  const response = request<T>(url);
  cache.set(url, response);
  response.catch(() => cache.delete(url));
  for (const oldest of cache.keys()) {
    if (cache.size <= MAX_CACHED_ANSWERS) break;
    cache.delete(oldest);
  }
  return response;
}

/** The current answer to a query; neither read from the cache nor added to it. */
export function fetchFresh<T>(query: string, params: Params = {}): Promise<ApiResponse<T>> {
  return request<T>(apiUrl(query, params));
}

/** Empties the cache: the next queries are answered from the newest snapshot. */
export function clearCache(): void {
  cache.clear();
}
