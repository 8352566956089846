/** Paginated lists, loaded as the user scrolls. */
import { useCallback, useEffect, useRef, useState } from 'preact/hooks'

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

type Load<T> = (cursor: string | undefined, signal: AbortSignal) => Promise<ListPage<T>>

interface State<T> {
  items: T[] | undefined
  next: string | undefined
  error: unknown
  isLoading: boolean
}

const initial = { items: undefined, next: undefined, error: undefined, isLoading: true }

/** Reloads when `key` changes; the old rows stay until then, so that the layout is stable. */
export function usePages<T>(load: Load<T>, key: string): LoadedPages<T> {
  const [state, setState] = useState<State<T>>(initial)
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

function joined<T>(now: State<T>, { items, next }: ListPage<T>, cursor: string | undefined) {
  const before = cursor === undefined ? [] : (now.items ?? [])
  return { items: [...before, ...items], next, error: undefined, isLoading: false }
}
