import { useState } from 'preact/hooks'

import { changeByApi, getBody, withQuery } from '../../core/api.ts'
import { pageUrl } from '../../core/base.ts'
import { may } from '../../core/me.ts'
import { usePages } from '../../core/resource.ts'
import { navigate, query, setQuery } from '../../core/router.ts'
import { showMessage } from '../../core/toasts.ts'
import { Button } from '../../parts/button.tsx'
import { Card } from '../../parts/card.tsx'
import { Confirm, Dialog } from '../../parts/dialog.tsx'
import { SelectField, TextField } from '../../parts/fields.tsx'
import { FilterField } from '../../parts/filters.tsx'
import { Form, type FormFields } from '../../parts/form.tsx'
import { Page } from '../../parts/page.tsx'
import { PagedRows } from '../../parts/states.tsx'
import { type Column, Table } from '../../parts/table.tsx'
import { Time } from '../../parts/text.tsx'
import {
  findUserId,
  getOrganizationPath,
  type ListedOrganization,
  mayIn,
  root,
} from './organization.ts'

const states = [
  ['', 'In use'],
  ['deleted', 'Deleted'],
] as const

export function OrganizationsPage() {
  const search = query.value.get('q') ?? undefined
  const isDeleted = query.value.get('state') === 'deleted'
  const [isCreating, setCreating] = useState(false)
  const pages = usePages(async (cursor, signal) => {
    const deleted = isDeleted ? 'true' : undefined
    const url = withQuery(root, { search, deleted, cursor, limit: 50 })
    const { organizations, next } = await getBody(url, signal)
    return { items: organizations, next: next ?? undefined }
  }, `${isDeleted} ${search}`)
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

function CreateOrganizationDialog({ onClose }: { onClose: () => void }) {
  const create = async ({ name = '', slug, owner }: FormFields) => {
    const created = await changeByApi('POST', root, {
      name,
      ...(slug && { slug }),
      ...(owner && { owner_id: await findUserId(owner) }),
    })
    showMessage(`${created.name} was created`)
    navigate(`/organizations/${created.id}`)
  }
  return (
    <Dialog title="Create an organization" onClose={onClose}>
      <Form submit="Create organization" onSubmit={create} onCancel={onClose}>
        <TextField name="name" label="Name" required autoFocus />
        <TextField
          name="slug"
          label="Slug"
          hint="Unique, and part of access tokens. Leave empty to derive it from the name"
        />
        <TextField
          name="owner"
          label="Owner"
          hint="The email address or id of a user; empty for none"
        />
      </Form>
    </Dialog>
  )
}

interface DeletedActionsProps {
  organization: ListedOrganization
  onDone: () => void
}

/** What becomes of a deleted organization. */
function DeletedActions({ organization, onDone }: DeletedActionsProps) {
  const { id, name, slug } = organization
  const [isPurging, setPurging] = useState(false)
  const act = (action: 'restore' | 'purge', text: string) => async () => {
    await changeByApi('POST', `${getOrganizationPath(id)}/${action}`)
    showMessage(text)
    onDone()
  }
  return (
    <span class="row">
      <Button
        compact
        label={`Restore ${name}`}
        disabled={!mayIn('POST', '/restore')}
        onClick={act('restore', `${name} was restored`)}
      >
        Restore
      </Button>
      <Button
        compact
        kind="danger"
        label={`Purge ${name}`}
        disabled={!mayIn('POST', '/purge')}
        onClick={() => setPurging(true)}
      >
        Purge
      </Button>
      {isPurging && (
        <Confirm
          title={`Purge ${name}`}
          submit="Purge organization"
          danger
          typed={slug}
          onConfirm={act('purge', `${name} was purged`)}
          onClose={() => setPurging(false)}
        >
          <p>Its members, roles and domains are removed. This cannot be undone.</p>
        </Confirm>
      )}
    </span>
  )
}
