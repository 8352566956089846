import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { tmpdir } from 'node:os'
import { suite, type TestContext, test } from 'node:test'

import type { SMTPServerOptions } from 'smtp-server'

import { run } from '../../cli/mail/index.ts'
import { startSmtp } from '../mail/smtp.ts'
import { startCli } from '../support/processes/cli-process.ts'
import { callCommand } from '../support/processes/command-call.ts'
import { build } from '../support/server.ts'

suite('mail command', () => {
  test('retry resends rejected emails and skips those with an unknown outcome', async (t) => {
    const { app, mail, command } = await start(t)
    const rejected = await deadLetter(app, 'refused@example.com', { reason: 'answered 550' })
    const perhaps = await deadLetter(app, 'perhaps@example.com', {
      reason: 'may have been delivered: the connection was lost',
    })

    const { stdout } = await command('retry')

    assert.match(stdout, /^1 email will be sent again\.\n/)
    assert.match(stdout, new RegExp(`${perhaps} {2}left out: .*--unknown-outcome`))
    await mail.waitFor('refused@example.com')
    await assert.rejects(
      command('retry', perhaps),
      /may have been delivered: add --unknown-outcome/,
    )
    await command('retry', perhaps, '--unknown-outcome')
    await mail.waitFor('perhaps@example.com')
    assert.equal(mail.messages.length, 2)
    await assert.rejects(command('retry', rejected), /was sent|is on its way/)
  })

  test('retry rejects expired emails', async (t) => {
    const { app, command, mail } = await start(t)
    const id = await deadLetter(app, 'late@example.com', { expires_at: new Date(Date.now() - 1) })

    await assert.rejects(command('retry', id, '--unknown-outcome'), /has expired/)
    assert.match((await command('retry', '--all')).stdout, /left out: it has expired/)
    assert.equal(mail.messages.length, 0)
  })

  test('list prints recipient, state and reason, and drop deletes', async (t) => {
    const { app, command, commandProcess } = await start(t)
    const id = await deadLetter(app, 'ada@example.com', { reason: 'answered 550' })

    const stdout = await commandProcess('list')

    assert.match(
      stdout,
      new RegExp(`^${id} {2}dead .*confirmation {2}ada@example\\.com .*answered 550`),
    )
    await command('drop', id)
    assert.equal((await command('list')).stdout, 'All email has been sent.\n')
    await assert.rejects(command('drop', id), /There is no email/)
  })

  const invalidCases: Record<string, [string[], RegExp]> = {
    'no command': [[], /Usage/],
    'an unknown command': [['resend'], /Usage/],
    'an invalid id': [['retry', '1; drop table'], /is not the id of an email/],
    'an unknown id': [['retry', randomUUID()], /There is no email/],
    'an id and all': [['retry', randomUUID(), '--all'], /Usage/],
    'nothing to drop': [['drop'], /Usage/],
  }
  test('reports errors in one sentence', async (t) => {
    const { command } = await start(t)
    for (const [invalid, [args, response]] of Object.entries(invalidCases)) {
      await assert.rejects(command(...args), response, invalid)
    }
  })
})

suite('mail test', () => {
  const secret = 'a secret of the mail server'

  /** A mail server that requires a password, and the command configured for it. */
  async function withSmtp(t: TestContext, options: SMTPServerOptions = {}) {
    const smtp = await startSmtp(t, {
      authMethods: ['PLAIN', 'LOGIN', 'CRAM-MD5'],
      authOptional: false,
      allowInsecureAuth: true,
      onAuth: ({ method, username, password, validatePassword }, _session, done) => {
        const isTheirs = method === 'CRAM-MD5' ? validatePassword(secret) : password === secret
        done(null, isTheirs ? { user: username ?? '' } : {})
      },
      ...options,
    })
    const settings = {
      AUTH_SITE_URL: 'http://app.example',
      AUTH_API_EXTERNAL_URL: 'http://auth.example',
      AUTH_DB_DRIVER: 'postgres',
      AUTH_JWT_SECRET: randomUUID(),
      // Unreachable: the command needs no database.
      DATABASE_URL: 'postgres://127.0.0.1:1/none',
      AUTH_SMTP_HOST: '127.0.0.1',
      AUTH_SMTP_PORT: String(smtp.port),
      AUTH_SMTP_ADMIN_EMAIL: 'no-reply@example.com',
      AUTH_SMTP_USER: 'postern',
      AUTH_SMTP_PASS: secret,
      AUTH_MAILER_SUBJECTS_RECOVERY: 'A new password for {{ .Email }}',
    }
    const command = (args: string[], more: Record<string, string> = {}) =>
      callCommand(run, ['test', ...args], { ...settings, ...more })
    return { ...smtp, command }
  }

  for (const method of ['PLAIN', 'LOGIN', 'CRAM-MD5']) {
    test(`sends as configured, authenticated by ${method}, and prints the SMTP session without the password`, async (t) => {
      const { emails, command } = await withSmtp(t, { authMethods: [method] })
      const { stdout, stderr, code } = await command(['recovery', 'ada@example.org'])

      assert.equal(code, 0, stderr)
      const [mail] = emails
      assert.deepEqual(mail?.recipients, ['ada@example.org'])
      assert.equal(mail?.parsed.subject, 'A new password for ada@example.org')
      assert.match(mail?.parsed.text ?? '', /http:\/\/auth\.example\/verify\?token=/)
      const output = [
        /^Subject: A new password for ada@example\.org$/m,
        /^S: 220 /m,
        /^C: EHLO auth\.example$/m,
        new RegExp(`^C: AUTH ${method}`, 'm'),
        /^S: 235 /m,
        /^C: MAIL FROM:<no-reply@example\.com>/m,
        /^C: RCPT TO:<ada@example\.org>/m,
        /^C: DATA$/m,
        /^The mail server accepted it/m,
      ]
      let from = 0
      for (const line of output) {
        const at = stdout.slice(from).search(line)
        assert.ok(at >= 0, `${line} is not in\n${stdout}`)
        from += at + 1
      }
      const digest = /C: (\S{40,})/.exec(stdout)?.[1] ?? ''
      const forms = [secret, Buffer.from(secret).toString('base64')]
      for (const text of [stdout, Buffer.from(digest, 'base64').toString()]) {
        for (const form of forms) assert.ok(!text.includes(form), text)
      }
      assert.ok(
        !stdout.includes('Grüße') && !stdout.includes('Content-Type'),
        'the text is not shown',
      )
    })
  }

  test('uses the requested language, and accepts the names of settings', async (t) => {
    const { emails, command } = await withSmtp(t)
    const { stderr, code } = await command(['NEW_SIGN_IN', 'ada@example.org', '--locale', 'de'])
    assert.equal(code, 0, stderr)
    assert.equal(emails[0]?.parsed.subject, 'Neue Anmeldung bei Ihrem Konto')
  })

  test('prints the whole SMTP session without a password', async (t) => {
    const { command } = await withSmtp(t, { authOptional: true })
    const unknown = { AUTH_SMTP_USER: '', AUTH_SMTP_PASS: '' }
    const { stdout, stderr, code } = await command(['invite', 'ada@example.org'], unknown)
    assert.equal(code, 0, stderr)
    assert.match(stdout, /^C: RCPT TO:<ada@example\.org>$/m)
    assert.doesNotMatch(stdout, /not shown/)
  })

  test('prints the server’s rejection', async (t) => {
    const rejecting = await withSmtp(t, {
      onRcptTo: (_address, _session, done) =>
        done(Object.assign(new Error('no such mailbox'), { responseCode: 550 })),
    })
    const rejected = await rejecting.command(['invite', 'nobody@example.org'])
    assert.equal(rejected.code, 1)
    assert.match(rejected.stdout, /^S: 550 no such mailbox$/m)
    assert.match(rejected.stderr, /Not sent \(permanent\): the mail server returned 550 to RCPT TO/)

    const wrong = await rejecting.command(['invite', 'ada@example.org'], {
      AUTH_SMTP_PASS: 'wrong',
    })
    assert.match(wrong.stdout, /^S: 535 /m)
    assert.match(wrong.stderr, /Not sent \(temporary\)/)
    const unknown = { AUTH_SMTP_HOST: '127.0.0.1', AUTH_SMTP_PORT: '1' }
    const unreached = await rejecting.command(['invite', 'ada@example.org'], unknown)
    assert.match(unreached.stderr, /the mail server was not reached/)
    assert.equal(rejecting.emails.length, 0)
  })

  test('reports a missing message type or mail server', async (t) => {
    const { emails, command } = await withSmtp(t)
    const names = ['AUTH_SMTP_HOST', 'AUTH_SMTP_ADMIN_EMAIL', 'AUTH_SMTP_USER', 'AUTH_SMTP_PASS']
    const noServer = Object.fromEntries(names.map((name) => [name, '']))
    const invalidCases: [args: string[], env: Record<string, string>, answer: RegExp][] = [
      [['letter', 'ada@example.org'], {}, /letter is not one of invite, confirmation,/],
      [['invite', 'ada@example.org', '--locale', 'xx'], {}, /xx is not one of en, de,/],
      [['invite', 'ada'], {}, /Not sent \(permanent\): the recipient is not an email address/],
      [['invite'], {}, /Usage/],
      [['invite', 'ada@example.org', 'more'], {}, /Usage/],
      [['invite', 'ada@example.org'], noServer, /There is no mail server/],
    ]
    for (const [args, env, response] of invalidCases) {
      const { stderr, code } = await command(args, env)
      assert.equal(code, 1, args.join(' '))
      assert.match(stderr, response)
    }
    assert.equal(emails.length, 0)
  })
})

type App = Awaited<ReturnType<typeof build>>['app']

async function start(t: TestContext) {
  const { app, mail, config } = await build(t)
  const settings = {
    AUTH_SITE_URL: config.AUTH_SITE_URL,
    AUTH_API_EXTERNAL_URL: config.AUTH_API_EXTERNAL_URL,
    AUTH_DB_DRIVER: 'postgres',
    AUTH_JWT_SECRET: config.AUTH_JWT_SECRET,
    AUTH_ENCRYPTION_KEY: config.AUTH_ENCRYPTION_KEY ?? '',
    DATABASE_URL: config.DATABASE_URL,
    ...mail.env,
  }
  const command = async (...args: string[]) => {
    const { stdout, stderr, code } = await callCommand(run, args, settings)
    if (code !== 0) throw new Error(stderr)
    return { stdout }
  }
  const commandProcess = async (...args: string[]) => {
    const { written, ended } = startCli(t, ['mail', ...args], { cwd: tmpdir(), env: settings })
    assert.equal(await ended, 0, written.err)
    return written.out
  }
  return { app, mail, command, commandProcess }
}

interface Message {
  reason?: string
  expires_at?: Date
}

/** A dead letter, inserted with its queueing in one transaction so that no worker sends it. */
async function deadLetter(app: App, to: string, message: Message): Promise<string> {
  const variables = {
    SiteURL: 'http://app.example',
    Email: to,
    Data: {},
    ConfirmationURL: 'http://auth.example/verify?token=abc',
    Token: '123456',
    TokenHash: 'abc',
    RedirectTo: 'http://app.example',
  }
  return app.db.transaction().execute(async (trx) => {
    const id = await app.mailer.queue(
      trx,
      { kind: 'confirmation', to, userId: randomUUID(), variables },
      new Date(),
    )
    await trx
      .updateTable('postern_mail_messages')
      .set({ state: 'dead', attempts: 1, ...message })
      .where('id', '=', id)
      .execute()
    return id
  })
}
