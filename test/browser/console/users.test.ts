/** Actions of operators in the list of users. */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { suite, test } from 'node:test'

import { withClient } from '../../../server/with-client.ts'
import { asAdmin } from '../../support/admin.ts'
import { nextEmail } from '../../support/messages/mail-journeys.ts'
import { linkIn } from '../../support/messages/mail-links.ts'
import { newAddress } from '../../support/users.ts'
import { executablePath } from '../chromium.ts'
import { makeUser, message, open, openSignedIn } from './console-site.ts'

const skip = executablePath === undefined && 'no Chromium is installed (CHROMIUM_PATH)'

suite('users in the console', { skip }, () => {
  test('finds a user while the address is typed and restores the search with the back button', async (t) => {
    const site = await openSignedIn(t)
    const user = await makeUser(site, { email: newAddress('wanted') })
    await makeUser(site, { email: newAddress('other') })
    const { page } = site
    await open(page, 'Users')
    await page.getByRole('searchbox', { name: 'Search users' }).pressSequentially('wanted')
    // The list may already be filtered by the first letters.
    await page.waitForURL(/\?q=wanted$/)
    await page.getByText('1 shown').waitFor()
    await page.getByRole('link', { name: user.email }).click()
    await page.getByRole('heading', { level: 1, name: user.email }).waitFor()
    await page.goBack()
    await page.getByText('1 shown').waitFor()
    assert.equal(await page.getByRole('searchbox').inputValue(), 'wanted')
  })

  test('filters by state', async (t) => {
    const site = await openSignedIn(t)
    await makeUser(site)
    const banned = await makeUser(site, { ban_duration: '24h' })
    const { page } = site
    await open(page, 'Users')
    await page.getByRole('combobox', { name: 'State' }).selectOption('Banned')
    await page.getByText('1 shown').waitFor()
    await page.getByRole('link', { name: banned.email }).waitFor()
  })

  test('creates a user and shows errors of the server', async (t) => {
    const site = await openSignedIn(t)
    const known = await makeUser(site)
    const { page } = site
    const email = newAddress()
    await open(page, 'Users')
    await page.getByRole('button', { name: 'Create user' }).click()
    const dialog = page.getByRole('dialog', { name: 'Create a user' })
    await dialog.getByLabel('Email').fill(known.email)
    await dialog.getByRole('button', { name: 'Create user' }).click()
    await dialog
      .getByRole('alert')
      .getByText(/already/)
      .waitFor()
    await dialog.getByLabel('Email').fill(email)
    await dialog.getByRole('button', { name: 'Create user' }).click()
    await page.getByRole('heading', { level: 1, name: email }).waitFor()
    await page.getByText('Confirmed', { exact: true }).first().waitFor()
  })

  test('invites a user by email', async (t) => {
    const site = await openSignedIn(t)
    const { page } = site
    const email = newAddress()
    await open(page, 'Users')
    await page.getByRole('button', { name: 'Invite' }).click()
    const dialog = page.getByRole('dialog', { name: 'Invite a user' })
    await dialog.getByLabel('Email').fill(email)
    await dialog.getByRole('button', { name: 'Send invitation' }).click()
    await page.getByText('Invited', { exact: true }).first().waitFor()
    assert.match(linkIn(await nextEmail(site, email)), /type=invite/)
  })

  test('previews an import before it is applied', async (t) => {
    const site = await openSignedIn(t)
    const { app, page } = site
    const email = newAddress('imported')
    await open(page, 'Users')
    await page.getByText('More ▾').click()
    await page.getByRole('button', { name: 'Import users' }).click()
    const dialog = page.getByRole('dialog', { name: 'Import users' })
    const lines = [JSON.stringify({ email }), '{"email": 5}'].join('\n')
    const file = { name: 'users.ndjson', mimeType: 'text/plain', buffer: Buffer.from(lines) }
    await dialog.getByLabel('File').setInputFiles(file)
    await dialog.getByText('1 of 2 rows can be imported').waitFor()
    const before = await asAdmin(app, 'GET', `/admin/users?q=${email}`)
    assert.deepEqual(before.json().users, [])
    await dialog.getByRole('button', { name: 'Import 1 users' }).click()
    await page.getByRole('link', { name: email }).waitFor()
  })

  test('exports the listed users', async (t) => {
    const site = await openSignedIn(t)
    const wanted = await makeUser(site, { email: newAddress('wanted') })
    const other = await makeUser(site, { email: newAddress('other') })
    const { page } = site
    await open(page, 'Users')
    await page.getByRole('searchbox').fill('wanted')
    await page.getByText('1 shown').waitFor()
    await page.getByText('More ▾').click()
    const waiting = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Export as CSV' }).click()
    const download = await waiting
    assert.equal(download.suggestedFilename(), 'users.csv')
    const text = await readFile(await download.path(), 'utf8')
    assert.ok(text.includes(wanted.email) && !text.includes(other.email), text)
  })

  test('bans selected users after a typed confirmation, with undo', async (t) => {
    const site = await openSignedIn(t)
    const { app, page } = site
    const users = [await makeUser(site), await makeUser(site)]
    await open(page, 'Users')
    for (const { email } of users) {
      await page.getByRole('checkbox', { name: `Select ${email}` }).check()
    }
    const bar = page.getByRole('region', { name: 'Selected users' })
    await bar.getByRole('button', { name: 'Ban', exact: true }).click()
    const dialog = page.getByRole('dialog', { name: 'Ban 2 users' })
    const submit = dialog.getByRole('button', { name: 'Ban 2 users' })
    assert.equal(await submit.isDisabled(), true)
    await dialog.getByLabel(/^Type/).fill('ban 2 users')
    await submit.click()
    await message(page, '2 banned')
    for (const { id } of users) {
      const { banned_until } = (await asAdmin(app, 'GET', `/admin/users/${id}`)).json()
      assert.ok(new Date(banned_until).getTime() > Date.now())
    }
    await page.getByRole('button', { name: 'Undo' }).click()
    await message(page, '2 no longer banned')
    const { banned_until } = (await asAdmin(app, 'GET', `/admin/users/${users[0]?.id}`)).json()
    assert.equal(banned_until, undefined)
  })

  test('deletes selected users', async (t) => {
    const site = await openSignedIn(t)
    const { app, page } = site
    const user = await makeUser(site)
    await open(page, 'Users')
    await page.getByRole('checkbox', { name: `Select ${user.email}` }).check()
    await page.getByRole('region', { name: 'Selected users' }).getByText('Delete').click()
    const dialog = page.getByRole('dialog', { name: 'Delete 1 user' })
    await dialog.getByLabel(/^Type/).fill('delete 1 user')
    await dialog.getByRole('button', { name: 'Delete 1 user' }).click()
    await message(page, '1 deleted')
    assert.equal((await asAdmin(app, 'GET', `/admin/users/${user.id}`)).statusCode, 404)
  })

  test('renders only the visible rows and loads more on scrolling', async (t) => {
    const site = await openSignedIn(t)
    const { page, database } = site
    await withClient({ connectionString: database.url }, (client) =>
      client.query(`insert into auth.users (instance_id, id, aud, role, email, created_at, updated_at, raw_app_meta_data, raw_user_meta_data)
       select '00000000-0000-0000-0000-000000000000', gen_random_uuid(), 'authenticated', 'authenticated', 'many' || n || '@example.com', now(), now(), '{}', '{}'
       from generate_series(1, 500) n`),
    )
    await open(page, 'Users')
    await page.getByText('100 shown, more as you scroll').waitFor()
    assert.ok((await page.getByRole('row').count()) < 60)
    await page.evaluate('document.querySelector(".virtual").scrollTo(0, 100_000)')
    await page.getByText('200 shown').waitFor()
  })
})
