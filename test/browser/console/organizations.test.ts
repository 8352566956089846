/** Organizations in the console. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { asAdmin } from '../../support/admin.ts'
import { nextEmail } from '../../support/messages/mail-journeys.ts'
import { adminOk } from '../../support/organizations/organizations.ts'
import { until } from '../../support/processes/until.ts'
import { executablePath } from '../chromium.ts'
import {
  type ConsoleSite,
  makeAdmin,
  makeOrganization,
  makeUser,
  message,
  open,
  openConsole,
  openSignedIn,
  signInAtPages,
} from './console-site.ts'

const skip = executablePath === undefined && 'no Chromium is installed (CHROMIUM_PATH)'

interface Found {
  organizations: { id: string; name: string }[]
  members: { user_id: string; role: string }[]
}

suite('organizations in the console', { skip }, () => {
  test('creates an organization, adds a member, changes the role with undo and removes the member', async (t) => {
    const site = await openSignedIn(t)
    const [owner, member] = [await makeUser(site), await makeUser(site)]
    const { app, page } = site
    await open(page, 'Organizations')
    await page.getByText('No organizations').waitFor()
    await page.getByRole('button', { name: 'Create organization' }).click()
    const creation = page.getByRole('dialog', { name: 'Create an organization' })
    await creation.getByLabel('Name').fill('Acme')
    await creation.getByLabel('Owner').fill(owner.email)
    await creation.getByRole('button', { name: 'Create organization' }).click()
    await page.getByRole('heading', { level: 1, name: 'Acme' }).waitFor()

    await page.getByRole('button', { name: 'Add member' }).click()
    const addition = page.getByRole('dialog', { name: 'Add a member' })
    await addition.getByLabel('User').fill('nobody@example.com')
    await addition.getByRole('button', { name: 'Add member' }).click()
    await addition.getByText('There is no user nobody@example.com.').waitFor()
    await addition.getByLabel('User').fill(member.email)
    await addition.getByRole('button', { name: 'Add member' }).click()
    await message(page, `${member.email} is a member now`)

    const role = page.getByRole('combobox', { name: `Role of ${member.email}` })
    await role.selectOption('admin')
    await message(page, 'The role was changed')
    const roles = await listRoles(site)
    assert.deepEqual(roles, { [owner.id]: 'owner', [member.id]: 'admin' })
    await page.getByRole('button', { name: 'Undo' }).click()
    await until(async () => (await role.inputValue()) === 'member')

    await page.getByRole('button', { name: `Remove ${member.email}` }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Remove member' }).click()
    await message(page, `${member.email} was removed`)
    assert.deepEqual(await listRoles(site), { [owner.id]: 'owner' })

    await page.getByRole('combobox', { name: `Role of ${owner.email}` }).selectOption('member')
    await page.getByText(/last owner/i).waitFor()
    assert.equal((await asAdmin(app, 'GET', '/admin/organizations')).statusCode, 200)
  })

  test('searches by name and loads more pages', async (t) => {
    const site = await openSignedIn(t)
    const { page } = site
    for (let n = 1; n <= 51; n++) await makeOrganization(site, { name: `Tenant ${n}` })
    await open(page, 'Organizations')
    const links = page.getByRole('table').getByRole('link')
    await links.first().waitFor()
    assert.equal(await links.count(), 50)
    await page.getByRole('button', { name: 'Show more' }).click()
    await page.getByRole('link', { name: 'Tenant 1', exact: true }).waitFor()
    assert.equal(await links.count(), 51)
    await page.getByLabel('Search').fill('tenant 33')
    await page.getByLabel('Search').press('Enter')
    await until(async () => (await links.count()) === 1)
    assert.equal(await links.innerText(), 'Tenant 33')
  })

  test('changes how users join, sends and revokes an invitation, and adds a domain', async (t) => {
    const site = await openSignedIn(t)
    const { app, page } = site
    const { id } = await makeOrganization(site, { name: 'Acme' })
    await open(page, 'Organizations')
    await page.getByRole('link', { name: 'Acme' }).click()
    await page.getByRole('button', { name: 'Edit', exact: true }).click()
    const edit = page.getByRole('dialog', { name: 'Edit organization' })
    await edit.getByLabel('By single sign-on').uncheck()
    await edit.getByLabel('By verified domain').selectOption('suggested')
    await edit.getByRole('button', { name: 'Save' }).click()
    await message(page, 'The organization was changed')
    const { joining } = await adminOk<{ joining: object }>(app, `GET /admin/organizations/${id}`)
    assert.deepEqual(joining, { invitation: true, domain: 'suggested', sso: false, scim: true })

    const tabs = page.getByRole('navigation', { name: 'Organization' })
    await tabs.getByRole('link', { name: 'Invitations' }).click()
    await page.getByRole('button', { name: 'Invite', exact: true }).click()
    const invitation = page.getByRole('dialog', { name: 'Invite an address' })
    const email = 'bob@elsewhere.example'
    await invitation.getByLabel('Email').fill(email)
    await invitation.getByRole('button', { name: 'Send invitation' }).click()
    await message(page, `The invitation to ${email} was sent`)
    await nextEmail(site, email)
    await page.getByRole('button', { name: `Revoke the invitation of ${email}` }).click()
    await page.getByText('No open invitations').waitFor()

    await tabs.getByRole('link', { name: 'Domains' }).click()
    await page.getByRole('button', { name: 'Add domain' }).click()
    const addition = page.getByRole('dialog', { name: 'Add a domain' })
    await addition.getByLabel('Domain').fill('acme.example')
    await addition.getByRole('button', { name: 'Add domain' }).click()
    await page.getByRole('table', { name: 'Domains' }).getByText('Unverified').waitFor()
    await tabs.getByRole('link', { name: 'Audit' }).click()
    const entries = page.getByRole('table', { name: 'Audit entries' })
    await entries.getByText(/domain added/i).waitFor()
  })

  test('deletes and restores an organization, and purges it after its slug was typed', async (t) => {
    const site = await openSignedIn(t)
    const { app, page } = site
    const { id, slug } = await makeOrganization(site, { name: 'Acme' })
    await open(page, 'Organizations')
    const remove = async () => {
      await page.getByRole('link', { name: 'Acme' }).click()
      await page.getByRole('button', { name: 'Delete', exact: true }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Delete organization' }).click()
      await page.getByText('No organizations').waitFor()
      await page.getByLabel('State').selectOption('Deleted')
    }
    await remove()
    await page.getByRole('button', { name: 'Restore Acme' }).click()
    await page.getByText('No organizations').waitFor()
    assert.equal((await asAdmin(app, 'GET', `/admin/organizations/${id}`)).statusCode, 200)

    await page.getByLabel('State').selectOption('In use')
    await remove()
    await page.getByRole('button', { name: 'Purge Acme' }).click()
    const dialog = page.getByRole('dialog', { name: 'Purge Acme' })
    const submit = dialog.getByRole('button', { name: 'Purge organization' })
    assert.equal(await submit.isDisabled(), true)
    await dialog.getByLabel(/to confirm/).fill(slug)
    await submit.click()
    await page.getByText('No organizations').waitFor()
    assert.deepEqual(await listed(site, '?deleted=true'), [])
  })

  test('shows all data read-only to support admins', async (t) => {
    const site = await openConsole(t)
    await makeAdmin(site, 'owner')
    const support = await makeAdmin(site, 'support')
    const { id } = await makeOrganization(site, { name: 'Acme', owner_id: support.id })
    const { page, url } = site
    await signInAtPages(page, `${url}/console/organizations/${id}`, support)
    const role = page.getByRole('combobox', { name: `Role of ${support.email}` })
    await role.waitFor()
    assert.equal(await role.isDisabled(), true)
    for (const name of ['Edit', 'Delete', 'Add member', `Remove ${support.email}`]) {
      const button = page.getByRole('button', { name, exact: true })
      assert.equal(await button.isDisabled(), true, name)
    }
  })

  test('does not offer organizations while they are disabled', async (t) => {
    const { page } = await openSignedIn(t, { AUTH_ORGANIZATIONS_ENABLED: 'false' })
    const links = page.getByRole('navigation', { name: 'Console' }).getByRole('link')
    const names = await links.allInnerTexts()
    assert.ok(names.includes('Users'))
    assert.ok(!names.includes('Organizations'))
  })
})

async function listed({ app }: ConsoleSite, query = '') {
  const found = await adminOk<Found>(app, `GET /admin/organizations${query}`)
  return found.organizations
}

/** Of the only organization. */
async function listRoles(site: ConsoleSite): Promise<Record<string, string>> {
  const [organization] = await listed(site)
  const path = `GET /admin/organizations/${organization?.id}/members`
  const { members } = await adminOk<Found>(site.app, path)
  return Object.fromEntries(members.map(({ user_id, role }) => [user_id, role]))
}
