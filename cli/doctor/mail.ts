/** Checks the mail server: connection, authentication, and a recipient. No email is sent. */
import SMTPConnection, {
  type SMTPConnectionCustomAuthContext,
} from 'nodemailer/lib/smtp-connection'

import type { Config } from '../../config/groups/index.ts'
import { type MailTransportOptions, poolOptions } from '../../mail/smtp-options.ts'
import { smtpOptions } from '../../plugins/messaging/mailer/deliver.ts'
import {
  type DoctorContext,
  type DoctorFinding,
  describeError,
  fail,
  pass,
  warn,
} from './finding.ts'
import { isLocalHost } from './local-host.ts'

export async function checkMail({ config, recipient }: DoctorContext): Promise<DoctorFinding[]> {
  if (config.AUTH_HOOK_SEND_EMAIL_ENABLED) return [pass('The send email hook sends all email.')]
  const options = smtpOptions(config)
  if (!options) return [notConfigured(config)]
  const server = `${options.host}:${options.port}`
  const to = recipient ?? options.from.address
  try {
    const isEncrypted = await converse(options, to)
    return [
      pass(`${server} accepts email from ${options.from.address} to ${to}.`),
      ...(isEncrypted || isLocalHost(options.host) ? [] : [inClear(server)]),
    ]
  } catch (error) {
    return [fail(`${server} does not accept email: ${formatMessage(error)}`)]
  }
}

/** Runs the SMTP session up to DATA. Returns whether the connection was encrypted. */
async function converse(options: MailTransportOptions, to: string): Promise<boolean> {
  const { user, pass = '', from } = options
  const connection = new SMTPConnection({
    ...poolOptions(options),
    customAuth: { [envelope]: sendEnvelope },
  })
  // Errors after the end of the session are ignored.
  connection.on('error', () => {})
  try {
    await step(connection, (done) => connection.connect(done))
    if (user) await step(connection, (done) => connection.login({ user, pass }, done))
    const login = { method: envelope, options: { from: from.address, to } }
    await step(connection, (done) => connection.login(login, done))
    connection.quit()
    return connection.secure
  } catch (error) {
    connection.close()
    throw error
  }
}

/** One step of the session. A lost connection is reported by an event only. */
function step(
  connection: SMTPConnection,
  begin: (done: (error?: Error | null) => void) => void,
): Promise<void> {
  return new Promise((resolve, reject) => {
    connection.once('error', reject)
    connection.once('end', () => reject(new Error('the connection was closed')))
    begin((error) => (error ? reject(error) : resolve()))
  })
}

function inClear(server: string): DoctorFinding {
  return warn(
    `The connection to ${server} is not encrypted: use port 465, or set AUTH_SMTP_TLS=starttls.`,
  )
}

/** Properties of nodemailer's errors: its code, the system's code, and the server's reply. */
interface SmtpError {
  code?: string
  originalCode?: string
  response?: string
}

const rejectedEnvelope = 'EENVELOPE'

const hints: Record<string, string> = {
  EAUTH: 'check AUTH_SMTP_USER and AUTH_SMTP_PASS',
  [rejectedEnvelope]: 'check whether you may send from AUTH_SMTP_ADMIN_EMAIL, and to that address',
  ETLS: 'check AUTH_SMTP_TLS and the certificate',
  EDNS: 'check AUTH_SMTP_HOST',
}

const certificateHint =
  'check that the certificate names AUTH_SMTP_HOST and is valid; name the file of your own authority in NODE_EXTRA_CA_CERTS'

function formatMessage(error: unknown): string {
  const { code = '', originalCode, response }: SmtpError = Object(error)
  const isCertificate = /CERT|^UNABLE_TO/.test(originalCode ?? '')
  const known = isCertificate ? certificateHint : (hints[originalCode ?? ''] ?? hints[code])
  const hint = known ?? 'check AUTH_SMTP_HOST, AUTH_SMTP_PORT and AUTH_SMTP_TLS'
  return `${response ?? originalCode ?? describeError(error)}; ${hint}.`
}

function notConfigured(config: Config): DoctorFinding {
  if (config.dev) return pass('In development emails are only in the inbox.')
  const isNeeded = config.AUTH_EXTERNAL_EMAIL_ENABLED && !config.AUTH_MAILER_AUTOCONFIRM
  const sentence =
    'No mail server is configured: links and codes cannot be sent. Set AUTH_SMTP_HOST'
  return (isNeeded ? fail : warn)(`${sentence} and AUTH_SMTP_ADMIN_EMAIL.`)
}

/** Named like an authentication method, since nodemailer lets those send custom commands. */
const envelope = 'ENVELOPE'

/** RFC 5321 §3.3, up to DATA. */
async function sendEnvelope({
  auth,
  sendCommand,
  resolve,
  reject,
}: SMTPConnectionCustomAuthContext) {
  const { from, to } = Object(auth.options)
  for (const command of [`MAIL FROM:<${from}>`, `RCPT TO:<${to}>`, 'RSET']) {
    const { status } = await sendCommand(command)
    if (status >= 300) return reject(Object.assign(new Error(command), { code: rejectedEnvelope }))
  }
  resolve()
}
