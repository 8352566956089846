import { useState } from 'preact/hooks'

import { changeByApi, getBody } from '../../core/api.ts'
import { useResource } from '../../core/resource.ts'
import { navigate } from '../../core/router.ts'
import { showMessage } from '../../core/toasts.ts'
import { Button } from '../../parts/button.tsx'
import { Confirm } from '../../parts/confirm.tsx'
import { Page } from '../../parts/page.tsx'
import { Loaded } from '../../parts/states.tsx'
import { currentTab, Tabs } from '../../parts/tabs.tsx'
import { Copy } from '../../parts/text.tsx'
import { OrganizationConnections } from './connections.tsx'
import { OrganizationDetails } from './details.tsx'
import { OrganizationDomains } from './domains.tsx'
import { EditOrganizationDialog } from './edit-dialog.tsx'
import { OrganizationGroups } from './groups.tsx'
import { OrganizationInvitations } from './invitations.tsx'
import { OrganizationMembers } from './members.tsx'
import { getOrganizationPath, mayIn, type ShownOrganization } from './organization.ts'
import { OrganizationAudit } from './organization-audit.tsx'

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
  const of = useResource((signal) => getBody<ShownOrganization>(path, signal), path)
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
