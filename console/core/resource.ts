/** API data of a page. */
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
