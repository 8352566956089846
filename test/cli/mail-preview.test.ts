import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { suite, type TestContext, test } from 'node:test'
import { promisify } from 'node:util'

import { mailKindNames } from '../../mail/kinds/index.ts'
import { startTemplateServer } from '../mail/template-server.ts'
import { temporaryFolder } from '../support/processes/temporary-folder.ts'

suite('mail:preview', () => {
  test('writes each email type as HTML and text, with its source, without any setting', async (t) => {
    const { folder, stdout, stderr } = await preview(t, {})

    const expected = mailKindNames.flatMap((kind) => [`${kind}.html`, `${kind}.txt`])
    assert.deepEqual(readdirSync(folder).sort(), [...expected, 'index.html', 'templates'].sort())
    assert.equal(readdirSync(join(folder, 'templates')).length, mailKindNames.length)
    assert.match(stdout, new RegExp(`^${mailKindNames.length} emails: file:.*index\\.html`))
    assert.equal(stderr, '')
    for (const kind of mailKindNames) {
      assert.match(readFileSync(join(folder, `${kind}.html`), 'utf8'), /<h1/)
      assert.match(readFileSync(join(folder, 'index.html'), 'utf8'), new RegExp(`"${kind}\\.html"`))
    }
  })

  test('uses custom templates and subjects and reports their errors', async (t) => {
    const server = await startTemplateServer(t, '<p>Own mail for {{ .Email }}</p>')
    const broken = await startTemplateServer(t, '<p>\n{{ if .Email }}')
    const { folder, stderr } = await preview(t, {
      AUTH_SITE_URL: server.url,
      AUTH_MAILER_TEMPLATES_INVITE: '/invite.html',
      AUTH_MAILER_SUBJECTS_INVITE: 'Come in, {{ .Data.name }}',
      GOTRUE_MAILER_TEMPLATES_RECOVERY: broken.url,
    })
    const written = (name: string) => readFileSync(join(folder, name), 'utf8')

    assert.equal(written('invite.html'), '<p>Own mail for ada.lovelace@example.com</p>')
    assert.equal(written('invite.txt'), 'Own mail for ada.lovelace@example.com\n')
    assert.match(written('index.html'), /Come in, Ada Lovelace/)
    assert.match(written('recovery.html'), /<h1.*Reset your password/)
    assert.match(stderr, /AUTH_MAILER_TEMPLATES_RECOVERY .*\n[\s\S]*line 2/)
  })
})

async function preview(t: TestContext, env: Record<string, string>) {
  const folder = temporaryFolder(t, 'preview')
  const cli = resolve(import.meta.dirname, '../../cli.ts')
  const { PATH } = process.env
  const args = [cli, 'mail-preview', folder]
  // Away from any .env of this checkout.
  const options = { cwd: folder, env: { PATH, ...env } }
  const { stdout, stderr } = await promisify(execFile)(process.execPath, args, options)
  return { folder, stdout, stderr }
}
