import { useState } from 'preact/hooks'

import { pageUrl } from '../../core/base.ts'
import { may } from '../../core/me.ts'
import { query, setQuery } from '../../core/router.ts'
import { Button } from '../../parts/button.tsx'
import { Card } from '../../parts/card.tsx'
import { SelectField } from '../../parts/fields.tsx'
import { FilterField } from '../../parts/filter-field.tsx'
import { Page } from '../../parts/page.tsx'
import { PagedRows } from '../../parts/paged-rows.tsx'
import { type Column, Table } from '../../parts/table.tsx'
import { Time } from '../../parts/text.tsx'
import { CreateOrganizationDialog } from './create-dialog.tsx'
import { DeletedActions } from './deleted-actions.tsx'
import { type ListedOrganization, root, useList } from './organization.ts'

const states = [
  ['', 'In use'],
  ['deleted', 'Deleted'],
] as const

export function OrganizationsPage() {
  const search = query.value.get('q') ?? undefined
  const isDeleted = query.value.get('state') === 'deleted'
  const [isCreating, setCreating] = useState(false)
  const pages = useList<ListedOrganization>(root, 'organizations', {
    search,
    ...(isDeleted && { deleted: 'true' }),
  })
  const columns = isDeleted ? deletedColumns(pages.reload) : liveColumns
  return (
    <Page
      title="Organizations"
      about="Tenants, with their members, roles and ways to join."
      actions={
        <Button kind="primary" disabled={!may(`POST ${root}`)} onClick={() => setCreating(true)}>
          Create organization
        </Button>
      }
    >
      <search class="columns narrow">
        <FilterField name="q" label="Search" placeholder="Part of the name or slug" />
        <SelectField
          name="state"
          label="State"
          value={isDeleted ? 'deleted' : ''}
          options={states}
          onInput={(state) => setQuery({ state })}
        />
      </search>
      <Card title={isDeleted ? 'Deleted organizations' : 'Organizations'} flush>
        <PagedRows pages={pages} empty={{ title: 'No organizations', text: emptyText(search) }}>
          {(rows) => (
            <Table label="Organizations" columns={columns} rows={rows} getKey={({ id }) => id} />
          )}
        </PagedRows>
      </Card>
      {isCreating && <CreateOrganizationDialog onClose={() => setCreating(false)} />}
    </Page>
  )
}

const emptyText = (search: string | undefined) =>
  search ? 'No name or slug has this text.' : 'Users and admins create them.'

const shared: Column<ListedOrganization>[] = [
  { title: 'Slug', kind: 'wrap', cell: ({ slug }) => <code>{slug}</code> },
  { title: 'Created', cell: ({ created_at }) => <Time at={created_at} /> },
]

const liveColumns: Column<ListedOrganization>[] = [
  {
    title: 'Organization',
    kind: 'wrap',
    cell: ({ id, name }) => <a href={pageUrl(`/organizations/${id}`)}>{name}</a>,
  },
  { title: 'Members', kind: 'end', cell: ({ member_count }) => member_count },
  ...shared,
]

const deletedColumns = (reload: () => void): Column<ListedOrganization>[] => [
  { title: 'Organization', kind: 'wrap', cell: ({ name }) => name },
  ...shared,
  { title: 'Deleted', cell: ({ deleted_at }) => <Time at={deleted_at} /> },
  {
    title: 'Actions',
    isUntitled: true,
    kind: 'end',
    cell: (organization) => <DeletedActions organization={organization} onDone={reload} />,
  },
]
