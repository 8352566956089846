import { useEffect, useRef, useState } from 'preact/hooks'

import type { User } from '../../../schemas/user.ts'
import { download, withQuery } from '../../core/api.ts'
import { formatCount } from '../../core/format.ts'
import { may } from '../../core/me.ts'
import { type LoadedPages, usePages } from '../../core/resource.ts'
import { query, setQuery } from '../../core/router.ts'
import { showError } from '../../core/toasts.ts'
import { Button } from '../../parts/button.tsx'
import { FilterField } from '../../parts/filters.tsx'
import { Menu } from '../../parts/menu.tsx'
import { Page } from '../../parts/page.tsx'
import { Empty, Failed, Skeleton } from '../../parts/states.tsx'
import { VirtualTable } from '../../parts/virtual-table.tsx'
import { BulkBar } from './bulk.tsx'
import {
  chosenColumnNames,
  chosenColumns,
  columnNames,
  titleOfColumn,
  toggleColumn,
} from './columns.tsx'
import { CreateUserDialog, InviteUserDialog } from './create-dialog.tsx'
import { ImportDialog } from './import-dialog.tsx'
import { listUsers, orders, readFilters, states } from './list-query.ts'
import { selected, selectionColumn } from './selection.tsx'

export function UsersPage() {
  const filters = readFilters()
  const key = JSON.stringify(filters)
  const pages = usePages((cursor, signal) => listUsers(filters, cursor, signal), key)
  return (
    <Page title="Users" actions={<UserActions onDone={pages.reload} />}>
      <UserFilters />
      <Found pages={pages} isFiltered={Object.values(filters).some(Boolean)} />
    </Page>
  )
}

function Found({ pages, isFiltered }: { pages: LoadedPages<User>; isFiltered: boolean }) {
  const { items, error, hasMore, isLoading, more, reload } = pages
  if (error !== undefined && items === undefined) return <Failed error={error} retry={reload} />
  if (items === undefined) return <Skeleton lines={12} />
  if (items.length === 0) return <NoUsers isFiltered={isFiltered} />
  return (
    <>
      {error !== undefined && <Failed error={error} retry={reload} />}
      <BulkBar onDone={reload} />
      <VirtualTable
        label="Users"
        columns={[selectionColumn(items), ...chosenColumns()]}
        rows={items}
        getKey={({ id }) => id}
        isSelected={({ id }) => selected.value.has(id)}
        isBusy={isLoading}
        onEnd={more}
      />
      <p class="small quiet" role="status">
        {formatCount(items.length)} shown{hasMore ? ', more as you scroll' : ''}
      </p>
    </>
  )
}

function NoUsers({ isFiltered }: { isFiltered: boolean }) {
  if (!isFiltered) {
    return <Empty title="No users yet">Users appear here when they sign up.</Empty>
  }
  const clear = () =>
    setQuery({ q: '', state: '', provider: '', from: '', to: '' }, { replace: false })
  return (
    <div class="state">
      <h3>No matching users</h3>
      <p>Search covers email addresses, phone numbers, names and ids. Also check the filters.</p>
      <Button onClick={clear}>Clear search and filters</Button>
    </div>
  )
}

type Open = 'create' | 'invite' | 'import'

/** The buttons above the list. */
function UserActions({ onDone }: { onDone: () => void }) {
  const [open, setOpen] = useState<Open>()
  const close = () => setOpen(undefined)
  return (
    <>
      <Menu label="More">
        <button
          type="button"
          disabled={!may('GET /admin/users/export')}
          onClick={() => exportList('csv').catch(showError)}
        >
          Export as CSV
        </button>
        <button
          type="button"
          disabled={!may('GET /admin/users/export')}
          onClick={() => exportList('ndjson').catch(showError)}
        >
          Export as NDJSON
        </button>
        <button
          type="button"
          disabled={!may('POST /admin/users/import')}
          onClick={() => setOpen('import')}
        >
          Import users
        </button>
      </Menu>
      <Button disabled={!may('POST /invite')} onClick={() => setOpen('invite')}>
        Invite
      </Button>
      <Button kind="primary" disabled={!may('POST /admin/users')} onClick={() => setOpen('create')}>
        Create user
      </Button>
      {open === 'create' && <CreateUserDialog onClose={close} />}
      {open === 'invite' && <InviteUserDialog onClose={close} />}
      {open === 'import' && <ImportDialog onClose={close} onDone={onDone} />}
    </>
  )
}

/** Exports all users that match the filters. */
function exportList(format: 'csv' | 'ndjson'): Promise<void> {
  const { sort, ...filters } = readFilters()
  return download(withQuery('/admin/users/export', { ...filters, format }), `users.${format}`)
}

const typingMs = 200

/** Search and filters, all stored in the URL. */
function UserFilters() {
  const count = ['provider', 'from', 'to'].filter((name) => query.value.get(name)).length
  return (
    <search class="filters">
      <SearchField />
      <Choice name="state" label="State" options={states} />
      <Choice name="sort" label="Order" options={orders} />
      <Menu label={count > 0 ? `Filters (${count})` : 'Filters'} keepOpen>
        <div class="form">
          <FilterField name="provider" label="Provider" />
          <FilterField name="from" label="Created from" type="date" />
          <FilterField name="to" label="Created until" type="date" />
        </div>
      </Menu>
      <Menu label="Columns" keepOpen>
        {columnNames
          .filter((name) => name !== 'user')
          .map((name) => (
            <label key={name}>
              <input
                type="checkbox"
                checked={chosenColumnNames.value.includes(name)}
                onChange={() => toggleColumn(name)}
              />
              {titleOfColumn(name)}
            </label>
          ))}
      </Menu>
    </search>
  )
}

function SearchField() {
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const field = useRef<HTMLInputElement>(null)
  const q = query.value.get('q') ?? ''
  // Back and forward change the URL; text being typed stays.
  useEffect(() => {
    if (field.current && document.activeElement !== field.current) field.current.value = q
  }, [q])
  const search = (text: string) => {
    clearTimeout(timer.current)
    timer.current = setTimeout(() => setQuery({ q: text.trim() }), typingMs)
  }
  return (
    <input
      ref={field}
      type="search"
      aria-label="Search users"
      placeholder="Search by email, phone, name or id"
      defaultValue={q}
      maxLength={255}
      onInput={(event) => search(event.currentTarget.value)}
    />
  )
}

interface ChoiceProps {
  name: string
  label: string
  options: readonly (readonly [string, string])[]
}

function Choice({ name, label, options }: ChoiceProps) {
  const chosen = query.value.get(name) ?? ''
  return (
    <select
      aria-label={label}
      value={chosen}
      onChange={(event) => setQuery({ [name]: event.currentTarget.value })}
    >
      {options.map(([value, text]) => (
        <option key={value} value={value} selected={value === chosen}>
          {text}
        </option>
      ))}
    </select>
  )
}
