/** Every page of the console: its path and its place in the navigation. */
import { computed } from '@preact/signals'
import { type ComponentChild, Fragment } from 'preact'

import { pageUrl } from '../core/base.ts'
import { type ConsoleFeature, has, may } from '../core/me.ts'
import { matchPath, path, visits } from '../core/router.ts'
import { AdminsPage } from '../pages/admins/admins-page.tsx'
import { AuditPage } from '../pages/audit/audit-page.tsx'
import { OauthClientPage } from '../pages/clients/client-page.tsx'
import { ClientsPage } from '../pages/clients/clients-page.tsx'
import { ConfigurationPage } from '../pages/configuration/configuration-page.tsx'
import { HooksPage } from '../pages/hooks/hooks-page.tsx'
import { KeysPage } from '../pages/keys/keys-page.tsx'
import { MailPage } from '../pages/mail/mail-page.tsx'
import { OrganizationPage } from '../pages/organizations/organization-page.tsx'
import { OrganizationsPage } from '../pages/organizations/organizations-page.tsx'
import { OverviewPage } from '../pages/overview/overview-page.tsx'
import { ProvidersPage } from '../pages/providers/providers-page.tsx'
import { SettingsPage } from '../pages/settings/settings-page.tsx'
import { UserPage } from '../pages/user/user-page.tsx'
import { UsersPage } from '../pages/users/users-page.tsx'
import { WebhookPage } from '../pages/webhooks/webhook-page.tsx'
import { WebhooksPage } from '../pages/webhooks/webhooks-page.tsx'
import { Page } from '../parts/page.tsx'
import { Empty } from '../parts/states.tsx'

interface Entry {
  path: string
  title: string
  /** The endpoint that the page requires. */
  needs: string
  /** The feature that must be on. */
  feature?: ConsoleFeature
  show: (values: Record<string, string>) => ComponentChild
}

interface Section {
  name: string
  pages: Entry[]
}

const all: Section[] = [
  {
    name: '',
    pages: [
      {
        path: '/',
        title: 'Overview',
        needs: 'GET /admin/statistics',
        show: () => <OverviewPage />,
      },
      { path: '/users', title: 'Users', needs: 'GET /admin/users', show: () => <UsersPage /> },
      {
        path: '/organizations',
        title: 'Organizations',
        needs: 'GET /admin/organizations',
        feature: 'organizations',
        show: () => <OrganizationsPage />,
      },
      {
        path: '/audit',
        title: 'Audit log',
        needs: 'GET /admin/audit',
        show: () => <AuditPage />,
      },
    ],
  },
  {
    name: 'Messages',
    pages: [
      { path: '/mail', title: 'Email', needs: 'GET /admin/mail', show: () => <MailPage /> },
      {
        path: '/webhooks',
        title: 'Webhooks',
        needs: 'GET /admin/webhooks',
        show: () => <WebhooksPage />,
      },
      { path: '/hooks', title: 'Hooks', needs: 'GET /admin/hooks', show: () => <HooksPage /> },
    ],
  },
  {
    name: 'Sign-in',
    pages: [
      {
        path: '/providers',
        title: 'Providers',
        needs: 'GET /admin/custom-providers',
        show: () => <ProvidersPage />,
      },
      {
        path: '/clients',
        title: 'OAuth clients',
        needs: 'GET /admin/oauth/clients',
        feature: 'oauth_server',
        show: () => <ClientsPage />,
      },
      { path: '/keys', title: 'Signing keys', needs: 'GET /admin/keys', show: () => <KeysPage /> },
    ],
  },
  {
    name: 'Server',
    pages: [
      {
        path: '/settings',
        title: 'Settings',
        needs: 'GET /admin/settings',
        show: () => <SettingsPage />,
      },
      {
        path: '/configuration',
        title: 'Configuration',
        needs: 'GET /admin/config',
        show: () => <ConfigurationPage />,
      },
      { path: '/admins', title: 'Admins', needs: 'GET /admin/admins', show: () => <AdminsPage /> },
    ],
  },
]

/** Pages reached from lists. */
const inner: Omit<Entry, 'title' | 'needs'>[] = [
  { path: '/users/:id', show: ({ id = '' }) => <UserPage id={id} /> },
  { path: '/organizations/:id', show: ({ id = '' }) => <OrganizationPage id={id} /> },
  { path: '/clients/:id', show: ({ id = '' }) => <OauthClientPage id={id} /> },
  { path: '/webhooks/:id', show: ({ id = '' }) => <WebhookPage id={id} /> },
]

/** Without pages that the admin may not see, and disabled features. */
export const menuSections = computed(() =>
  all.map(({ name, pages }) => ({
    name,
    pages: pages.filter(({ needs, feature }) => may(needs) && (!feature || has(feature))),
  })),
)

export function CurrentPage() {
  const pages = menuSections.value.flatMap(({ pages }) => pages)
  const current = path.value === '/' ? (pages[0]?.path ?? '/') : path.value
  for (const { path: pattern, show } of [...pages, ...inner]) {
    const values = matchPath(pattern, current)
    if (values) return <Fragment key={path.value + visits.value}>{show(values)}</Fragment>
  }
  return <NotFound />
}

function NotFound() {
  return (
    <Page title="Page not found">
      <Empty title="This page does not exist">
        It may require another role, or the link may be from another version of the console.{' '}
        <a href={pageUrl('/')}>Go to the overview</a>.
      </Empty>
    </Page>
  )
}
