/** A server with something on each page of the console, and every page and dialog to look at. */
import assert from 'node:assert/strict'

import type { Page } from 'playwright-core'

import { asAdmin } from '../../support/admin.ts'
import { add, oauth2Input } from '../../support/custom-providers/requests.ts'
import { createClient } from '../../support/oauth-server.ts'
import { adminOk } from '../../support/organizations/organizations.ts'
import { signedIn } from '../../support/users.ts'
import { type ConsoleSite, makeAdmin, makeOrganization, makeUser } from './console-site.ts'

const agent = 'Mozilla/5.0 (X11; Linux) Firefox/140.0'

interface ConsolePages {
  /** Besides those of the navigation. */
  paths: string[]
  dialogs: { name: string; path: string; open: (page: Page) => Promise<void> }[]
}

export async function fillConsole(site: ConsoleSite): Promise<ConsolePages> {
  const { app } = site
  const user = await makeUser(site, { user_metadata: { full_name: 'Ada Lovelace' } })
  await signedIn(app, user.email, { 'user-agent': agent })
  const client = await createClient(app, { client_name: 'Calendar' })
  await makeAdmin(site, 'operator')
  await asAdmin(app, 'PUT', '/admin/settings', { values: { AUTH_SESSIONS_TIMEBOX: '24h' } })
  await add(app, oauth2Input('https://8.8.8.8'))
  const webhook = await asAdmin(app, 'POST', '/admin/webhooks', {
    url: 'https://hooks.example.com',
  })
  const organization = await fillOrganizations(site)
  const paths = [
    ...listTabPaths(`/users/${user.id}`, [
      'security',
      'sessions',
      'mail',
      'apps',
      'metadata',
      'activity',
    ]),
    ...listTabPaths(organization, [
      'details',
      'invitations',
      'domains',
      'connections',
      'groups',
      'audit',
    ]),
    '/organizations?state=deleted',
    `/clients/${client.client_id}`,
    `/webhooks/${webhook.json().id}`,
    '/mail?tab=templates',
    '/providers?tab=custom',
    '/settings?tab=history',
    '/configuration?tab=doctor',
    '/configuration?q=nothing+has+this',
    '/nowhere',
  ]
  return { paths, dialogs: listDialogs(`/users/${user.id}`, organization) }
}

/** The path of an organization with something on each tab but one. */
async function fillOrganizations(site: ConsoleSite): Promise<string> {
  const { app } = site
  const { id: owner } = await makeUser(site)
  const { id } = await makeOrganization(site, { name: 'Acme', owner_id: owner })
  const path = `/admin/organizations/${id}`
  await asAdmin(app, 'POST', `${path}/invitations`, { email: 'bob@elsewhere.example' })
  await asAdmin(app, 'POST', `${path}/domains`, { domain: 'acme.example' })
  await adminOk(app, `POST ${path}/connections`, {
    name: 'Acme login',
    custom_provider: 'custom:plain',
  })
  const deleted = await makeOrganization(site, { name: 'Globex' })
  await asAdmin(app, 'DELETE', `/admin/organizations/${deleted.id}`)
  return `/organizations/${id}`
}

const listTabPaths = (path: string, tabs: readonly string[]): string[] => [
  path,
  ...tabs.map((tab) => `${path}?tab=${tab}`),
]

function listDialogs(user: string, organization: string): ConsolePages['dialogs'] {
  const by = (path: string, name: string | RegExp) => ({
    name: `${name} on ${path.replace(/\/[0-9a-f-]{36}/, '')}`,
    path,
    open: (page: Page) => page.getByRole('button', { name }).first().click(),
  })
  const byMenu = (path: string, menu: string, name: string) => ({
    ...by(path, name),
    open: async (page: Page) => {
      await page.locator('summary', { hasText: menu }).click()
      await page.getByRole('button', { name, exact: true }).click()
    },
  })
  return [
    by('/users', 'Create user'),
    by('/users', 'Invite'),
    byMenu('/users', 'More', 'Import users'),
    by(user, 'Edit'),
    by(user, 'Send link'),
    byMenu(user, 'Actions', 'Ban'),
    byMenu(user, 'Actions', 'Impersonate'),
    byMenu(user, 'Actions', 'Delete'),
    by('/organizations', 'Create organization'),
    by(organization, 'Edit'),
    by(organization, 'Add member'),
    by(`${organization}?tab=connections`, 'Bind provider'),
    by('/clients', 'Create client'),
    by('/webhooks', 'Add webhook'),
    by('/keys', 'Rotate'),
    by('/keys', /^Revoke/),
    by('/mail', 'Send a test'),
    by('/admins', 'Add admin'),
    by('/providers?tab=custom', 'Add provider'),
  ]
}

/** Those of the navigation. */
export async function readPaths(page: Page): Promise<string[]> {
  const paths: unknown = await page.evaluate(
    `[...document.querySelectorAll('nav[aria-label=Console] a')]
      .map((link) => link.pathname.slice('/console'.length) || '/')`,
  )
  assert.ok(Array.isArray(paths) && paths.length > 5)
  return [...new Set(paths.map(String))]
}
