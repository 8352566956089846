import type { AdminUser } from '../../../schemas/admin-user.ts'
import { getBody } from '../../core/api.ts'
import { useResource } from '../../core/resource.ts'
import { Page } from '../../parts/page.tsx'
import { Loaded } from '../../parts/states.tsx'
import { currentTab, Tabs } from '../../parts/tabs.tsx'
import { Copy } from '../../parts/text.tsx'
import { getUserName, UserStatus } from '../users/status.tsx'
import { Activity } from './activity.tsx'
import { Apps } from './apps.tsx'
import { UserDetails } from './details.tsx'
import { Mails } from './mails.tsx'
import { MetadataTab } from './metadata.tsx'
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
  const of = useResource((signal) => getBody<AdminUser>(`/admin/users/${id}`, signal), id)
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
