/** Loaded content, and placeholders while it is loading, empty or failed. */
import type { ComponentChildren } from 'preact'

import { RequestError } from '../core/api.ts'
import type { LoadedPages, Resource } from '../core/resource.ts'
import { errorMessage } from '../core/toasts.ts'
import { Button } from './button.tsx'

export function Skeleton({ lines = 6 }: { lines?: number }) {
  return (
    <div class="skeleton" role="status" aria-label="Loading">
      {Array.from({ length: lines }, (_, index) => (
        <span key={index} />
      ))}
    </div>
  )
}

export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="state">
      <h3>{title}</h3>
      {children && <p>{children}</p>}
    </div>
  )
}

export function Failed({ error, retry }: { error: unknown; retry: () => void }) {
  return (
    <div class="state failed" role="alert">
      <h3>{getTitle(error)}</h3>
      <p>{errorMessage(error)}</p>
      {error instanceof RequestError && error.requestId && (
        <p class="small quiet">
          Request <code>{error.requestId}</code>, in the server log
        </p>
      )}
      <Button onClick={retry}>Try again</Button>
    </div>
  )
}

interface LoadedProps<T> {
  of: Resource<T>
  lines?: number
  children: (data: T) => ComponentChildren
}

/** The loaded content. After a failed reload, the earlier content stays. */
export function Loaded<T>({ of, lines, children }: LoadedProps<T>) {
  const { data, error, reload } = of
  if (data === undefined && error !== undefined) return <Failed error={error} retry={reload} />
  if (data === undefined) return <Skeleton {...(lines !== undefined && { lines })} />
  return (
    <>
      {error !== undefined && <Failed error={error} retry={reload} />}
      {children(data)}
    </>
  )
}

function getTitle(error: unknown): string {
  if (!(error instanceof RequestError)) return 'This cannot be shown'
  if (error.status === 403) return 'Your role does not allow this'
  if (error.status === 404) return 'Not found'
  if (error.code === 'unreachable') return 'No connection'
  return 'The server rejected the request'
}

interface PagedRowsProps<T> {
  pages: LoadedPages<T>
  empty: { title: string; text: string }
  children: (rows: T[]) => ComponentChildren
}

/** The loaded rows, and a button for more. */
export function PagedRows<T>({ pages, empty, children }: PagedRowsProps<T>) {
  const { items, error, isLoading, hasMore, more, reload } = pages
  if (items === undefined) {
    return error === undefined ? <Skeleton /> : <Failed error={error} retry={reload} />
  }
  if (items.length === 0) return <Empty title={empty.title}>{empty.text}</Empty>
  return (
    <>
      {children(items)}
      {error !== undefined && <Failed error={error} retry={more} />}
      {hasMore && (
        <div class="more">
          <Button busy={isLoading} onClick={more}>
            Show more
          </Button>
        </div>
      )}
    </>
  )
}
