import type { User } from '../../../schemas/user.ts'
import { formatCount } from '../../core/format.ts'
import { type LoadedPages, usePages } from '../../core/pages.ts'
import { setQuery } from '../../core/router.ts'
import { Button } from '../../parts/button.tsx'
import { Page } from '../../parts/page.tsx'
import { Empty, Failed, Skeleton } from '../../parts/states.tsx'
import { VirtualTable } from '../../parts/virtual-table.tsx'
import { UserActions } from './actions.tsx'
import { BulkBar } from './bulk.tsx'
import { chosenColumns } from './columns.tsx'
import { UserFilters } from './filters.tsx'
import { listUsers, readFilters } from './list-query.ts'
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
