import { useState } from 'preact/hooks'

import { changeByApi, getBody } from '../../core/api.ts'
import { listAudit } from '../../core/audit.ts'
import { formatName } from '../../core/format.ts'
import { may } from '../../core/me.ts'
import { usePages, useResource } from '../../core/resource.ts'
import type { ShownEmailDelivery } from '../../core/shapes.ts'
import { showMessage } from '../../core/toasts.ts'
import { AuditTable } from '../../parts/audit-table.tsx'
import { Button } from '../../parts/button.tsx'
import { Card } from '../../parts/card.tsx'
import { AreaField } from '../../parts/fields.tsx'
import { MailStatus } from '../../parts/mail-status.tsx'
import { Page } from '../../parts/page.tsx'
import { Empty, Loaded, PagedRows } from '../../parts/states.tsx'
import { type Column, Table } from '../../parts/table.tsx'
import { currentTab, Tabs } from '../../parts/tabs.tsx'
import { Copy, Time } from '../../parts/text.tsx'
import { getUserName, UserStatus } from '../users/status.tsx'
import { Apps } from './apps.tsx'
import { UserDetails } from './details.tsx'
import { Security } from './security.tsx'
import { Sessions } from './sessions.tsx'
import type { TabProps } from './tab-props.ts'
import { UserMenu } from './user-menu.tsx'

const tabs = [
  ['details', 'Details'],
  ['security', 'Security'],
  ['sessions', 'Sessions'],
  ['mail', 'Email'],
  ['apps', 'Connected apps'],
  ['metadata', 'Metadata'],
  ['activity', 'Activity'],
] as const

export function UserPage({ id }: { id: string }) {
  const of = useResource((signal) => getBody(`/admin/users/${id}`, signal), id)
  const { data: user } = of
  return (
    <Page
      title={user ? getUserName(user) : 'User'}
      above={{ path: '/users', title: 'Users' }}
      about={
        <span class="row">
          {user && <UserStatus user={user} />}
          <Copy text={id} label="the id of the user" />
        </span>
      }
      actions={user && <UserMenu user={user} of={of} />}
    >
      <Loaded of={of}>
        {(loaded) => (
          <>
            <Tabs label="User" tabs={tabs} />
            <Tab user={loaded} of={of} />
          </>
        )}
      </Loaded>
    </Page>
  )
}

function Tab(props: TabProps) {
  switch (currentTab({ tabs })) {
    case 'security':
      return <Security {...props} />
    case 'sessions':
      return <Sessions {...props} />
    case 'mail':
      return <Mails {...props} />
    case 'apps':
      return <Apps {...props} />
    case 'metadata':
      return <MetadataTab {...props} />
    case 'activity':
      return <Activity {...props} />
    default:
      return <UserDetails {...props} />
  }
}

function Activity({ user }: TabProps) {
  const pages = usePages(
    (cursor, signal) => listAudit({ user_id: user.id }, cursor, signal),
    user.id,
  )
  return (
    <Card title="Actions of this user, and of admins on the account" flush>
      <PagedRows
        pages={pages}
        empty={{ title: 'No entries', text: 'Sign-ins and changes are recorded as they happen.' }}
      >
        {(entries) => <AuditTable entries={entries} />}
      </PagedRows>
    </Card>
  )
}

const columns: Column<ShownEmailDelivery>[] = [
  { title: 'Email', cell: ({ kind }) => formatName(kind) },
  { title: 'Status', cell: ({ status }) => <MailStatus status={status} /> },
  { title: 'Attempts', kind: 'end', cell: ({ attempts }) => attempts },
  { title: 'Queued', cell: ({ created_at }) => <Time at={created_at} /> },
  { title: 'Sent', cell: ({ sent_at }) => <Time at={sent_at} /> },
  { title: 'Response of the mail server', kind: 'wrap', cell: ({ response }) => response ?? '–' },
]

function Mails({ user }: TabProps) {
  const path = `/admin/users/${user.id}/mails` as const
  const of = useResource((signal) => getBody(path, signal), path)
  return (
    <Card title="Emails to this user" flush>
      <Loaded of={of}>
        {({ mails }) =>
          mails.length === 0 ? (
            <Empty title="No emails">
              Sent emails are listed for 7 days, those that were not sent for 30.
            </Empty>
          ) : (
            <Table label="Emails" columns={columns} rows={mails} getKey={({ id }) => id} />
          )
        }
      </Loaded>
    </Card>
  )
}

type Name = 'user_metadata' | 'app_metadata'

function MetadataTab(props: TabProps) {
  return (
    <div class="two">
      <Editor {...props} name="user_metadata" title="User metadata">
        The user can read and change it.
      </Editor>
      <Editor {...props} name="app_metadata" title="App metadata">
        The user can read it; only admins can change it.
      </Editor>
    </div>
  )
}

interface EditorProps extends TabProps {
  name: Name
  title: string
  children: string
}

function Editor({ user, of, name, title, children }: EditorProps) {
  const stored = formatMetadata(user[name])
  const [text, setText] = useState(stored)
  const { value, error } = parseMetadata(text)
  const patch = value && createPatch(user[name], value)
  const mayChange = may('PUT /admin/users/{user_id}')
  const send = async (metadata: object) => {
    const after = await changeByApi('PUT', `/admin/users/${user.id}`, {
      [name]: metadata,
    })
    of.set(after)
    setText(formatMetadata(after[name]))
    return after
  }
  const save = async () => {
    if (!patch) return
    const after = await send(patch)
    const undo = createPatch(after[name], user[name])
    showMessage(`${title} saved`, undo && (() => send(undo)))
  }
  return (
    <Card title={title}>
      <AreaField
        name={name}
        label="JSON"
        code
        rows={14}
        value={text}
        hint={children}
        error={error}
        disabled={!mayChange}
        onInput={setText}
      />
      <div class="row">
        <Button kind="primary" disabled={!patch || !mayChange} onClick={save}>
          Save
        </Button>
        <Button disabled={text === stored} onClick={() => setText(stored)}>
          Discard changes
        </Button>
      </div>
    </Card>
  )
}

/** Converts edited metadata to the API's merge patch: null deletes a key. */
type Json = Record<string, unknown>

interface Parsed {
  value?: Json
  error?: string
}

function parseMetadata(text: string): Parsed {
  try {
    const value: unknown = JSON.parse(text)
    if (isObject(value)) return { value }
    return { error: 'Metadata must be a JSON object: { … }' }
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) }
  }
}

/** The patch from `before` to `after`; undefined when they are equal. */
function createPatch(before: Json, after: Json): Json | undefined {
  const patch: Json = {}
  for (const [key, value] of Object.entries(after)) {
    if (JSON.stringify(value) !== JSON.stringify(before[key])) patch[key] = value
  }
  for (const key of Object.keys(before)) if (!(key in after)) patch[key] = null
  return Object.keys(patch).length > 0 ? patch : undefined
}

const formatMetadata = (value: Json): string => JSON.stringify(value, null, 2)

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
