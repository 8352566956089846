import type { ComponentChildren } from 'preact'

export interface Column<T> {
  title: string
  cell: (row: T) => ComponentChildren
  /** `end` aligns numbers, `fit` is as narrow as its content, `wrap` breaks long text. */
  kind?: 'end' | 'fit' | 'wrap' | 'cut' | 'nowrap'
  /** In pixels, for virtualized rows. */
  width?: number
  /** Replaces the title. */
  head?: ComponentChildren
  /** The title is for screen readers only. */
  isUntitled?: boolean
}

interface TableProps<T> {
  /** Describes the rows for screen readers. */
  label: string
  columns: readonly Column<T>[]
  rows: readonly T[]
  getKey: (row: T) => string
  /** On narrow screens, the cells of a row are one below the other: for long texts. */
  isStacked?: boolean
}

export function Table<T>({ label, columns, rows, getKey, isStacked }: TableProps<T>) {
  return (
    <section class="table-frame" tabIndex={0} aria-label={label}>
      <table class={`table ${isStacked ? 'stacked' : ''}`} aria-label={label}>
        <TableHead columns={columns} />
        <tbody>
          {rows.map((row) => (
            <tr key={getKey(row)}>
              {columns.map(({ title, kind, cell }) => (
                <td key={title} class={kind} data-title={isStacked && title}>
                  {cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

export function TableHead<T>({ columns }: { columns: readonly Column<T>[] }) {
  return (
    <thead>
      <tr>
        {columns.map(({ title, kind, head, isUntitled }) => (
          <th key={title} scope="col" class={kind}>
            {head ?? (isUntitled ? <span class="hidden-text">{title}</span> : title)}
          </th>
        ))}
      </tr>
    </thead>
  )
}
