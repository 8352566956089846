import {
  elementScroll,
  observeElementOffset,
  observeElementRect,
  Virtualizer,
} from '@tanstack/virtual-core'
import type { RefObject } from 'preact'
import { useEffect, useLayoutEffect, useReducer, useRef, useState } from 'preact/hooks'

import { type Column, TableHead } from './table.tsx'

interface VirtualTableProps<T> {
  label: string
  columns: readonly Column<T>[]
  rows: readonly T[]
  getKey: (row: T) => string
  isSelected?: (row: T) => boolean
  isBusy?: boolean
  /** Called when the user scrolls near the last row. */
  onEnd: () => void
}

/** As in .virtual of styles/tables.css. */
const rowHeight = 41

/** A table that renders visible rows only. */
export function VirtualTable<T>(props: VirtualTableProps<T>) {
  const { label, columns, rows, isBusy = false, onEnd } = props
  const frame = useRef<HTMLDivElement>(null)
  const shown = useVirtualRows(frame as RefObject<HTMLElement>, {
    count: rows.length,
    height: rowHeight,
  })
  const isNearEnd = shown.end >= rows.length - 20
  useEffect(() => {
    if (isNearEnd) onEnd()
  }, [isNearEnd, rows.length, onEnd])
  const width = columns.reduce((sum, column) => sum + (column.width ?? 160), 0)
  return (
    <section class="table-frame virtual" ref={frame} tabIndex={0} aria-label={label}>
      <table
        class="table"
        aria-label={label}
        aria-busy={isBusy}
        aria-rowcount={rows.length + 1}
        style={{ minWidth: `${width}px` }}
      >
        <colgroup>
          {columns.map(({ title, width }) => (
            <col key={title} style={width ? { width: `${width}px` } : {}} />
          ))}
        </colgroup>
        <TableHead columns={columns} />
        <tbody>
          <Spacer height={shown.before} span={columns.length} />
          <Rows {...props} {...shown} />
          <Spacer height={shown.after} span={columns.length} />
        </tbody>
      </table>
    </section>
  )
}

function Rows<T>({
  columns,
  rows,
  getKey,
  isSelected,
  first,
  end,
}: VirtualTableProps<T> & { first: number; end: number }) {
  return (
    <>
      {rows.slice(first, end).map((row, index) => (
        <tr
          key={getKey(row)}
          class={isSelected?.(row) ? 'selected' : ''}
          aria-rowindex={first + index + 2}
        >
          {columns.map(({ title, kind, cell }) => (
            <td key={title} class={kind}>
              {cell(row)}
            </td>
          ))}
        </tr>
      ))}
    </>
  )
}

function Spacer({ height, span }: { height: number; span: number }) {
  if (height === 0) return null
  return (
    <tr class="spacer">
      <td colSpan={span} style={{ height: `${height}px` }} />
    </tr>
  )
}

interface Window {
  first: number
  /** Exclusive. */
  end: number
  before: number
  after: number
}

/** Which rows of a long table are rendered (@tanstack/virtual-core). */
function useVirtualRows(
  frame: RefObject<HTMLElement>,
  { count, height }: { count: number; height: number },
): Window {
  const [, update] = useReducer((times: number) => times + 1, 0)
  const options = {
    count,
    getScrollElement: () => frame.current,
    estimateSize: () => height,
    overscan: 12,
    observeElementRect,
    observeElementOffset,
    scrollToFn: elementScroll,
    onChange: () => update(0),
  }
  const [virtualizer] = useState(() => new Virtualizer<HTMLElement, HTMLElement>(options))
  virtualizer.setOptions(options)
  useLayoutEffect(() => virtualizer._didMount(), [virtualizer])
  useLayoutEffect(() => virtualizer._willUpdate())

  const shown = virtualizer.getVirtualItems()
  const first = shown[0]?.index ?? 0
  const end = (shown.at(-1)?.index ?? -1) + 1
  return { first, end, before: first * height, after: Math.max(0, count - end) * height }
}
