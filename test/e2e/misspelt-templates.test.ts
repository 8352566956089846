/** A misspelt template variable is reported at startup, in the preview and in the development inbox. */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite, test } from 'node:test'

import { read } from '../config/environment.ts'
import { temporaryFolder } from '../support/processes/temporary-folder.ts'
import { until } from '../support/processes/until.ts'
import { call } from '../support/requests.ts'
import { build } from '../support/server.ts'
import { newAddress, password } from '../support/users.ts'

const problem =
  'line 1: this email has no .ConfirmationUrl, so it is always empty; did you mean .ConfirmationURL?'
const noMailServer = { AUTH_SMTP_HOST: '', AUTH_SMTP_ADMIN_EMAIL: '' }
const misspelt = '<p>{{ .Token }} <a href="{{ .ConfirmationUrl }}">Confirm</a></p>'

suite('misspelt template variable', () => {
  for (const where of ['setting', 'file'] as const) {
    test(`is a warning at startup from a ${where}`, async (t) => {
      const folder = temporaryFolder(t, 'templates')
      writeFileSync(join(folder, 'confirm.html'), misspelt)
      const lines: string[] = []
      await build(t, {
        lines,
        env: {
          AUTH_TEMPLATES_DIR: folder,
          AUTH_MAILER_TEMPLATES_CONFIRMATION: where === 'file' ? 'confirm.html' : misspelt,
          AUTH_MAILER_SUBJECTS_INVITE: 'For {{ .Emial }}',
        },
      })
      const reported = lines.filter((line) =>
        line.includes('names variables that the email does not have'),
      )
      assert.equal(reported.length, 2, lines.join('\n'))
      assert.match(reported.join(), /AUTH_MAILER_TEMPLATES_CONFIRMATION.*/)
      assert.match(reported.join(), /AUTH_MAILER_SUBJECTS_INVITE/)
      assert.match(reported.join(), /did you mean \.ConfirmationURL\?/)
      assert.match(reported.join(), /did you mean \.Email\?/)
    })
  }

  test('is shown in preview and inbox, without links that the email does not contain', async (t) => {
    const { app } = await build(t, {
      dev: true,
      env: { ...noMailServer, AUTH_MAILER_TEMPLATES_CONFIRMATION: misspelt },
    })
    const preview = (await app.mailer.preview('en')).find(({ kind }) => kind === 'confirmation')
    assert.deepEqual(preview?.problems, [problem])
    assert.match((await call(app, '/dev/mail-templates')).body, /did you mean \.ConfirmationURL\?/)

    await call(app, '/signup', { email: newAddress(), password })
    const [mail] = await until(async () => {
      const messages: { links: string[]; problems: string[]; code: string }[] = (
        await call(app, '/dev/messages')
      ).json()
      return messages.length > 0 && messages
    })
    assert.deepEqual(mail?.links, [])
    assert.deepEqual(mail.problems, [problem])
    assert.match(mail.code, /^\d{6}$/)
  })
})

suite('AUTH_MAILER_URLPATHS_*', () => {
  const notices = (env: Record<string, string>) =>
    read(env).notices.filter((notice) => notice.startsWith('AUTH_MAILER_URLPATHS'))

  test('warns at startup about a missing path of this server', () => {
    assert.deepEqual(notices({ AUTH_MAILER_URLPATHS_INVITE: '/welcome' }), [
      'AUTH_MAILER_URLPATHS_INVITE is /welcome: this server has no page at https://auth.example.test/welcome, which these emails link to. Remove the variable, or set the full URL of a page on your site.',
    ])
  })

  test('accepts existing paths and other servers’ pages', () => {
    for (const path of ['/verify', '/auth/v1/verify', 'https://app.example.test/welcome']) {
      assert.deepEqual(notices({ AUTH_MAILER_URLPATHS_RECOVERY: path }), [], path)
    }
    const gateway = {
      AUTH_API_EXTERNAL_URL: 'https://example.test/gateway',
      AUTH_MAILER_URLPATHS_RECOVERY: '/gateway/verify',
    }
    assert.deepEqual(notices(gateway), [])
    const shared = {
      AUTH_API_EXTERNAL_URL: 'https://example.test/auth/v1',
      AUTH_SITE_URL: 'https://example.test',
      AUTH_MAILER_URLPATHS_RECOVERY: '/new-password',
    }
    assert.deepEqual(notices(shared), [])
  })
})
