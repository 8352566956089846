import type { ComponentChildren } from 'preact'

import type { LoadedPages } from '../core/pages.ts'
import { Button } from './button.tsx'
import { Empty, Failed, Skeleton } from './states.tsx'

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
