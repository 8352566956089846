/** Settings as owners change them in the console. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { nextEmail } from '../../support/messages/mail-journeys.ts'
import { call } from '../../support/requests.ts'
import { executablePath } from '../chromium.ts'
import { makeUser, message, open, openSignedIn } from './console-site.ts'

const skip = executablePath === undefined && 'no Chromium is installed (CHROMIUM_PATH)'
const name = 'AUTH_MAILER_TEMPLATES_RECOVERY'

suite('settings in the console', { skip }, () => {
  test('edits a template beside a preview that lists unknown variables', async (t) => {
    const site = await openSignedIn(t)
    const { email } = await makeUser(site)
    const { app, page } = site
    await open(page, 'Settings')
    await page.getByRole('button', { name: `Change ${name}`, exact: true }).click()
    const editor = page.getByLabel(`Value of ${name}`)
    await editor.fill('<p>Hello {{ .Nonsense }}</p>')
    await page.getByRole('alert').getByText('Nonsense').waitFor()
    await editor.fill(
      '<p>Hello <a href="{{ .ConfirmationURL }}">reset</a></p><script>alert(1)</script>',
    )
    const frame = page.frameLocator('iframe[name=mail-preview]')
    await frame.getByRole('link', { name: 'reset' }).waitFor()
    await page.getByRole('button', { name: 'Save' }).click()
    await message(page, `${name} was changed`)
    const since = site.mail.messages.length
    await call(app, '/recover', { email })
    const { mail } = await nextEmail(site, email, since)
    assert.match(String(mail.html), /Hello <a href="http/)
    await page.getByRole('button', { name: 'Reset to default' }).click()
    await page.getByText('Changed here').waitFor({ state: 'detached' })
  })
})
