/** API data of a page: one resource, or a list that is loaded as the user scrolls. */
import { useCallback, useEffect, useRef, useState } from 'preact/hooks'

export interface Resource<T> {
  /** Kept during a reload, so that the layout is stable. */
  data: T | undefined
  error: unknown
  isLoading: boolean
  reload(): void
  /** Updates the data without a request. */
  set(data: T): void
}

type State<T> = Pick<Resource<T>, 'data' | 'error' | 'isLoading'>

/** Loads when the page opens and when `key` changes; an outdated response is dropped. */
export function useResource<T>(
  load: (signal: AbortSignal) => Promise<T>,
  key: string,
): Resource<T> {
  const [state, setState] = useState<State<T>>({ ...none, isLoading: true })
  const [round, setRound] = useState(0)
  const current = useRef({ load, key })
  if (current.current.key !== key) current.current = { load, key }
  current.current.load = load

  useEffect(() => {
    const stop = new AbortController()
    setState(({ data }) => ({ data, error: undefined, isLoading: true }))
    current.current.load(stop.signal).then(
      (data) => !stop.signal.aborted && setState({ data, error: undefined, isLoading: false }),
      (error) =>
        !stop.signal.aborted && setState(({ data }) => ({ data, error, isLoading: false })),
    )
    return () => stop.abort()
  }, [key, round])

  const reload = useCallback(() => setRound((count) => count + 1), [])
  const set = useCallback((data: T) => setState((now) => ({ ...now, data })), [])
  return { ...state, reload, set }
}

const none = { data: undefined, error: undefined }

export interface ListPage<T> {
  items: T[]
  next?: string | undefined
}

export interface LoadedPages<T> {
  /** Undefined until the first page is loaded. */
  items: T[] | undefined
  error: unknown
  isLoading: boolean
  hasMore: boolean
  more(): void
  reload(): void
}

type LoadPage<T> = (cursor: string | undefined, signal: AbortSignal) => Promise<ListPage<T>>

interface ListState<T> {
  items: T[] | undefined
  next: string | undefined
  error: unknown
  isLoading: boolean
}

const noPages = { items: undefined, next: undefined, error: undefined, isLoading: true }

/** Reloads when `key` changes; the old rows stay until then, so that the layout is stable. */
export function usePages<T>(load: LoadPage<T>, key: string): LoadedPages<T> {
  const [state, setState] = useState<ListState<T>>(noPages)
  const [round, setRound] = useState(0)
  const loader = useRef(load)
  const running = useRef<AbortController>(undefined)
  loader.current = load

  const read = useCallback((cursor: string | undefined) => {
    running.current?.abort()
    const stop = new AbortController()
    running.current = stop
    setState((now) => ({ ...now, isLoading: true, error: undefined }))
    loader.current(cursor, stop.signal).then(
      (page) => !stop.signal.aborted && setState((now) => joined(now, page, cursor)),
      (error) => !stop.signal.aborted && setState((now) => ({ ...now, isLoading: false, error })),
    )
  }, [])

  useEffect(() => {
    read(undefined)
    return () => running.current?.abort()
  }, [key, round, read])

  const { items, next, error, isLoading } = state
  const more = () => {
    if (next !== undefined && !isLoading) read(next)
  }
  const reload = useCallback(() => setRound((count) => count + 1), [])
  return { items, error, isLoading, hasMore: next !== undefined, more, reload }
}

function joined<T>(now: ListState<T>, { items, next }: ListPage<T>, cursor: string | undefined) {
  const before = cursor === undefined ? [] : (now.items ?? [])
  return { items: [...before, ...items], next, error: undefined, isLoading: false }
}
