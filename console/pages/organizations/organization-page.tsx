import { useState } from 'preact/hooks'

import { changeByApi, getBody, withQuery } from '../../core/api.ts'
import { formatName } from '../../core/format.ts'
import { usePages, useResource } from '../../core/resource.ts'
import { navigate } from '../../core/router.ts'
import { showMessage } from '../../core/toasts.ts'
import { AuditTable } from '../../parts/audit-table.tsx'
import { Button } from '../../parts/button.tsx'
import { Card } from '../../parts/card.tsx'
import { Confirm, Dialog } from '../../parts/dialog.tsx'
import { CheckField, SelectField, TextField } from '../../parts/fields.tsx'
import { Form, type FormFields } from '../../parts/form.tsx'
import { Page } from '../../parts/page.tsx'
import { Loaded, PagedRows } from '../../parts/states.tsx'
import { currentTab, Tabs } from '../../parts/tabs.tsx'
import { Copy, FactList, type Facts, Lines, Moment } from '../../parts/text.tsx'
import { OrganizationConnections } from './connections.tsx'
import { OrganizationDomains } from './domains.tsx'
import { OrganizationGroups } from './groups.tsx'
import { OrganizationInvitations } from './invitations.tsx'
import { OrganizationMembers } from './members.tsx'
import {
  getOrganizationPath,
  mayIn,
  roleOptions,
  type ShownOrganization,
  type ShownOrganizationEntry,
  useRoles,
} from './organization.ts'

const tabs = [
  ['members', 'Members'],
  ['details', 'Details'],
  ['invitations', 'Invitations'],
  ['domains', 'Domains'],
  ['connections', 'Connections'],
  ['groups', 'Groups'],
  ['audit', 'Audit'],
] as const

export function OrganizationPage({ id }: { id: string }) {
  const path = getOrganizationPath(id)
  const of = useResource((signal) => getBody(path, signal), path)
  const [open, setOpen] = useState<'edit' | 'delete'>()
  const { data: organization } = of
  const close = () => setOpen(undefined)
  const remove = async () => {
    await changeByApi('DELETE', path)
    const restore = () => changeByApi('POST', `${path}/restore`)
    showMessage(
      `${organization?.name} was deleted`,
      mayIn('POST', '/restore') ? restore : undefined,
    )
    navigate('/organizations')
  }
  return (
    <Page
      title={organization?.name ?? 'Organization'}
      above={{ path: '/organizations', title: 'Organizations' }}
      about={<Copy text={id} label="the id of the organization" />}
      actions={organization && <Actions onOpen={setOpen} />}
    >
      <Loaded of={of}>
        {(loaded) => (
          <>
            <Tabs label="Organization" tabs={tabs} />
            <Tab organization={loaded} />
          </>
        )}
      </Loaded>
      {open === 'edit' && organization && (
        <EditOrganizationDialog organization={organization} onDone={of.set} onClose={close} />
      )}
      {open === 'delete' && organization && (
        <Confirm
          title={`Delete ${organization.name}`}
          submit="Delete organization"
          danger
          onConfirm={remove}
          onClose={close}
        >
          <p>Its members lose access at once. An admin can restore it until it is purged.</p>
        </Confirm>
      )}
    </Page>
  )
}

function Actions({ onOpen }: { onOpen: (open: 'edit' | 'delete') => void }) {
  return (
    <>
      <Button disabled={!mayIn('PUT')} onClick={() => onOpen('edit')}>
        Edit
      </Button>
      <Button kind="danger" disabled={!mayIn('DELETE')} onClick={() => onOpen('delete')}>
        Delete
      </Button>
    </>
  )
}

function Tab({ organization }: { organization: ShownOrganization }) {
  const { id } = organization
  switch (currentTab({ tabs })) {
    case 'details':
      return <OrganizationDetails organization={organization} />
    case 'invitations':
      return <OrganizationInvitations id={id} />
    case 'domains':
      return <OrganizationDomains id={id} />
    case 'connections':
      return <OrganizationConnections id={id} />
    case 'groups':
      return <OrganizationGroups id={id} />
    case 'audit':
      return <OrganizationAudit id={id} />
    default:
      return <OrganizationMembers id={id} />
  }
}

function OrganizationAudit({ id }: { id: string }) {
  const path = `${getOrganizationPath(id)}/audit` as const
  const pages = usePages(async (cursor, signal) => {
    const { entries, next } = await getBody(withQuery(path, { cursor, limit: 50 }), signal)
    return { items: entries, next: next ?? undefined }
  }, path)
  return (
    <Card title="Changes" flush>
      <PagedRows
        pages={pages}
        empty={{ title: 'No entries', text: 'Changes of the organization appear here.' }}
      >
        {(entries) => <AuditTable entries={entries.map(toEntry)} />}
      </PagedRows>
    </Card>
  )
}

/** In the form of the audit log of the server. */
function toEntry({ id, created_at, ip_address, ...payload }: ShownOrganizationEntry) {
  const { actor_id, ...rest } = payload
  return { id, created_at, ip_address, payload: { ...rest, ...(actor_id && { actor_id }) } }
}

function OrganizationDetails({ organization }: { organization: ShownOrganization }) {
  return (
    <Card title="Details">
      <FactList facts={toFacts(organization)} />
    </Card>
  )
}

const onOff = (isOn: boolean) => (isOn ? 'On' : 'Off')

function toFacts({ slug, joining, default_role, metadata, ...times }: ShownOrganization): Facts {
  return [
    ['Slug', <code key="slug">{slug}</code>],
    ['Joining by invitation', onOff(joining.invitation)],
    ['Joining by domain', formatName(joining.domain)],
    ['Joining by single sign-on', onOff(joining.sso)],
    ['Joining by SCIM', onOff(joining.scim)],
    ['Default role', default_role],
    [
      'Metadata',
      Object.keys(metadata).length > 0 ? <Json key="metadata" of={metadata} /> : undefined,
    ],
    ['Created', <Moment key="created" at={times.created_at} />],
    ['Changed', <Moment key="changed" at={times.updated_at} />],
  ]
}

function Json({ of }: { of: Record<string, unknown> }) {
  return <Lines label="Metadata">{JSON.stringify(of, null, 2)}</Lines>
}

interface EditDialogProps {
  organization: ShownOrganization
  onDone: (organization: ShownOrganization) => void
  onClose: () => void
}

const domainChoices = [
  ['off', 'Off'],
  ['suggested', 'Suggested'],
  ['automatic', 'Automatic'],
] as const

const switches = [
  ['invitation', 'By invitation'],
  ['sso', 'By single sign-on'],
  ['scim', 'By SCIM'],
] as const

function EditOrganizationDialog({ organization, onDone, onClose }: EditDialogProps) {
  const { id, name, slug, joining, default_role } = organization
  const roles = useRoles(id)
  const save = async (fields: FormFields) => {
    onDone(await changeByApi('PUT', getOrganizationPath(id), changesIn(fields)))
    showMessage('The organization was changed')
    onClose()
  }
  return (
    <Dialog title="Edit organization" onClose={onClose}>
      <Form submit="Save" onSubmit={save} onCancel={onClose}>
        <TextField name="name" label="Name" value={name} required autoFocus />
        <TextField name="slug" label="Slug" value={slug} required />
        <fieldset>
          <legend>Users join</legend>
          {switches.map(([way, label]) => (
            <CheckField key={way} name={way} label={label} checked={joining[way]} />
          ))}
        </fieldset>
        <SelectField
          name="domain"
          label="By verified domain"
          value={joining.domain}
          options={domainChoices}
        />
        <SelectField
          name="default_role"
          label="Default role"
          hint="Of users who join by domain"
          value={default_role}
          options={roleOptions(roles, default_role)}
        />
      </Form>
    </Dialog>
  )
}

function changesIn({ name, slug, domain, default_role, ...checked }: FormFields) {
  const on = Object.fromEntries(switches.map(([way]) => [way, checked[way] === 'on']))
  return { name, slug, default_role, joining: { ...on, domain } }
}
