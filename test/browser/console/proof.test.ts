/** A change that gives access, in a session whose sign-in is some time ago. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { newAddress, password } from '../../support/users.ts'
import { executablePath } from '../chromium.ts'
import { findings } from '../page-checks.ts'
import {
  type ConsoleSite,
  makeAdmin,
  makeUser,
  open,
  openConsole,
  signInAtPages,
} from './console-site.ts'

const skip = executablePath === undefined && 'no Chromium is installed (CHROMIUM_PATH)'

suite('proof of identity in the console', { skip }, () => {
  test('asks for the password, and makes the change that waited', async (t) => {
    const site = await openAged(t)
    const { page } = site
    const { email } = await makeUser(site)
    await addAdmin(site, email)
    const dialog = page.getByRole('dialog', { name: 'Confirm your identity' })
    await dialog.getByLabel('Your password').fill('not the password')
    await dialog.getByRole('button', { name: 'Confirm' }).click()
    await dialog.getByRole('alert').waitFor()
    assert.deepEqual(await findings(page), [])
    await dialog.getByLabel('Your password').fill(password)
    await dialog.getByRole('button', { name: 'Confirm' }).click()
    await page.getByRole('combobox', { name: `Role of ${email}` }).waitFor()
  })

  test('accepts a code from an email instead', async (t) => {
    const site = await openAged(t)
    const { mail, page } = site
    const { email } = await makeUser(site)
    await addAdmin(site, email)
    const dialog = page.getByRole('dialog', { name: 'Confirm your identity' })
    await dialog.getByRole('button', { name: 'Send me a code instead' }).click()
    await dialog.locator('input[name=nonce]:focus').waitFor()
    await dialog.getByRole('button', { name: 'Use your password instead' }).click()
    await dialog.locator('input[name=current_password]:focus').waitFor()
    await dialog.getByRole('button', { name: 'Send me a code instead' }).click()
    const sent = await mail.waitFor(({ mail: { subject } }) => /\d{6}/.test(subject ?? ''))
    await dialog.getByLabel('Code').fill(/\d{6}/.exec(sent.mail.subject ?? '')?.[0] ?? '')
    await dialog.getByRole('button', { name: 'Confirm' }).click()
    await page.getByRole('combobox', { name: `Role of ${email}` }).waitFor()
  })

  test('makes no change when it is cancelled', async (t) => {
    const site = await openAged(t)
    const { page } = site
    const { email } = await makeUser(site)
    await addAdmin(site, email)
    const dialog = page.getByRole('dialog', { name: 'Confirm your identity' })
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    const form = page.getByRole('dialog', { name: 'Add an admin' })
    await form.getByText('Nothing was changed, because you did not confirm').waitFor()
    assert.equal(await page.getByRole('combobox', { name: `Role of ${email}` }).count(), 0)
  })

  test('shows the link for an address that no user has confirmed', async (t) => {
    const site = await openConsole(t)
    const owner = await makeAdmin(site, 'owner')
    await signInAtPages(site.page, `${site.url}/console`, owner)
    await addAdmin(site, newAddress())
    const dialog = site.page.getByRole('dialog', { name: /^Invite / })
    await dialog.getByText(/\/console#first-admin=/).waitFor()
  })
})

/** An owner who signed in an hour ago. */
async function openAged(t: Parameters<typeof openConsole>[0]): Promise<ConsoleSite> {
  const site = await openConsole(t)
  const owner = await makeAdmin(site, 'owner')
  await signInAtPages(site.page, `${site.url}/console`, owner)
  await site.page.locator('#content h1').waitFor()
  const { pool } = site.app
  const hour = `interval '1 hour'`
  await pool.query(`update auth.sessions set created_at = created_at - ${hour}`)
  await pool.query(
    `update auth.mfa_amr_claims set updated_at = updated_at - ${hour}, created_at = created_at - ${hour}`,
  )
  return site
}

async function addAdmin({ page }: ConsoleSite, email: string): Promise<void> {
  await open(page, 'Admins')
  await page.getByRole('button', { name: 'Add admin' }).click()
  const form = page.getByRole('dialog', { name: 'Add an admin' })
  await form.getByLabel('Email').fill(email)
  await form.getByRole('button', { name: 'Add admin' }).click()
}
