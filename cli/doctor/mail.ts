/** The mail server: connected to, signed in to, and asked about a recipient. No mail is sent. */
import SMTPConnection, {
  type SMTPConnectionCustomAuthContext,
} from 'nodemailer/lib/smtp-connection'

import { type MailTransportOptions, poolOptions } from '../../mail/smtp-options.ts'
import type { Config } from '../../plugins/config/config.ts'
import { smtpOptions } from '../../plugins/mailer/deliver.ts'
import { type Finding, fail, pass, reasonOf, type Surroundings, warn } from './finding.ts'
import { isLocalHost } from './local-host.ts'

export async function mail({ config, recipient }: Surroundings): Promise<Finding[]> {
  if (config.AUTH_HOOK_SEND_EMAIL_ENABLED) return [pass('Your hook sends all mail.')]
  const options = smtpOptions(config)
  if (!options) return [notConfigured(config)]
  const server = `${options.host}:${options.port}`
  const to = recipient ?? options.from.address
  try {
    const isEncrypted = await converse(options, to)
    return [
      pass(`${server} takes mail from ${options.from.address} for ${to}.`),
      ...(isEncrypted || isLocalHost(options.host) ? [] : [inClear(server)]),
    ]
  } catch (error) {
    return [fail(`${server} does not take our mail: ${sentenceOf(error)}`)]
  }
}

/** Up to where the text would begin. Whether the connection was encrypted. */
async function converse(options: MailTransportOptions, to: string): Promise<boolean> {
  const { user, pass = '', from } = options
  const connection = new SMTPConnection({
    ...poolOptions(options),
    customAuth: { [envelope]: ask },
  })
  // What comes after the answer that was waited for changes nothing.
  connection.on('error', () => {})
  try {
    await step(connection, (done) => connection.connect(done))
    if (user) await step(connection, (done) => connection.login({ user, pass }, done))
    const asked = { method: envelope, options: { from: from.address, to } }
    await step(connection, (done) => connection.login(asked, done))
    connection.quit()
    return connection.secure
  } catch (error) {
    connection.close()
    throw error
  }
}

/** One step of the conversation. A connection that is lost meanwhile is told by an event alone. */
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

function inClear(server: string): Finding {
  return warn(`${server} is talked to in clear: use port 465, or set AUTH_SMTP_TLS=starttls.`)
}

/** What nodemailer puts on its errors: its own code, that of the system, and the words of the mail server. */
interface SmtpFault {
  code?: string
  originalCode?: string
  response?: string
}

const refusedEnvelope = 'EENVELOPE'

const remedies: Record<string, string> = {
  EAUTH: 'look at AUTH_SMTP_USER and AUTH_SMTP_PASS',
  [refusedEnvelope]: 'look whether you may send from AUTH_SMTP_ADMIN_EMAIL, and to that address',
  ETLS: 'look at AUTH_SMTP_TLS and at its certificate',
  EDNS: 'look at AUTH_SMTP_HOST',
}

function sentenceOf(error: unknown): string {
  const { code = '', originalCode, response }: SmtpFault = Object(error)
  const known = remedies[originalCode ?? ''] ?? remedies[code]
  const remedy = known ?? 'look at AUTH_SMTP_HOST, AUTH_SMTP_PORT and AUTH_SMTP_TLS'
  return `${response ?? originalCode ?? reasonOf(error)}; ${remedy}.`
}

function notConfigured(config: Config): Finding {
  const isNeeded = config.AUTH_EXTERNAL_EMAIL_ENABLED && !config.AUTH_MAILER_AUTOCONFIRM
  const sentence = 'No mail server is set: links and codes go nowhere. Set AUTH_SMTP_HOST'
  return (isNeeded ? fail : warn)(`${sentence} and AUTH_SMTP_ADMIN_EMAIL.`)
}

/** Named like a way to sign in, because nodemailer lets those send commands of their own. */
const envelope = 'ENVELOPE'

/** RFC 5321 section 3.3, up to where the text would begin. */
async function ask({ auth, sendCommand, resolve, reject }: SMTPConnectionCustomAuthContext) {
  const { from, to } = Object(auth.options)
  for (const command of [`MAIL FROM:<${from}>`, `RCPT TO:<${to}>`, 'RSET']) {
    const { status } = await sendCommand(command)
    if (status >= 300) return reject(Object.assign(new Error(command), { code: refusedEnvelope }))
  }
  resolve()
}
