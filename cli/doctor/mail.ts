/**
 * Checks the mail server up to a recipient, without an email; the sender's domain; and custom subjects and templates.
 */
import { promises as dns } from 'node:dns'
import { isIP } from 'node:net'

import type { SMTPConnectionCustomAuthContext } from 'nodemailer/lib/smtp-connection'
import SMTPConnection from 'nodemailer/lib/smtp-connection'

import type { Config } from '../../config/groups/index.ts'
import { previewAll } from '../../mail/preview.ts'
import { type MailTransportOptions, poolOptions } from '../../mail/smtp-options.ts'
import { smtpOptions } from '../../plugins/messaging/mailer/deliver.ts'
import { type Rendering, withRenderer } from '../mail/renderer.ts'
import {
  type DoctorContext,
  type DoctorFinding,
  describeError,
  fail,
  isLocalHost,
  pass,
  warn,
} from './finding.ts'

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

/** All strings of all TXT records of a name. Throws the errors of node:dns. */
type LookUp = (name: string) => Promise<string[][]>

/** Checks SPF and DMARC of the sender's domain: without them, emails are likely to be treated as spam. */
export async function checkMailDomain(
  { config }: Pick<DoctorContext, 'config'>,
  lookUp: LookUp = dns.resolveTxt,
): Promise<DoctorFinding[]> {
  const { AUTH_SMTP_ADMIN_EMAIL: sender, AUTH_SMTP_HOST } = config
  const domain = sender?.slice(sender.lastIndexOf('@') + 1) ?? ''
  if (!AUTH_SMTP_HOST || isIP(domain.replace(/^\[|\]$/g, '')) || !domain.includes('.')) return []
  const spf = { name: domain, begins: 'v=spf1', called: 'SPF' }
  const dmarc = { name: `_dmarc.${domain}`, begins: 'v=DMARC1', called: 'DMARC' }
  return [
    ...(await Promise.all([spf, dmarc].map((needed) => record(needed, lookUp)))),
    warn(
      `DKIM cannot be checked from here, because only your mail server knows its selector: send yourself an email, and look for dkim=pass with ${domain} in its headers.`,
    ),
  ]
}

interface DnsRecord {
  name: string
  begins: string
  called: string
}

async function record({ name, begins, called }: DnsRecord, lookUp: LookUp): Promise<DoctorFinding> {
  try {
    const texts = (await lookUp(name)).map((strings) => strings.join(''))
    if (texts.some((text) => text.startsWith(begins))) return pass(`${name} has ${called}.`)
  } catch (error) {
    const reason = describeError(error)
    if (!['ENODATA', 'ENOTFOUND'].includes(reason)) {
      return warn(`${called} of ${name} could not be looked up (${reason}).`)
    }
  }
  return warn(
    `${name} has no ${called}: add a TXT record that begins with ${begins}, as your mail provider says.`,
  )
}

/** Checks custom texts: the built-in text is sent in place of one that cannot be used. */
export async function checkTemplates({
  config,
}: Pick<DoctorContext, 'config'>): Promise<DoctorFinding[]> {
  if (!hasCustomTexts(config)) return []
  const found = new Set<string>()
  await withRenderer(config, (rendering) => collectProblems(rendering, config, found), ignored)
  if (found.size === 0) return [pass('Every subject and template of yours can be used.')]
  return [...found].map((problem) => warn(`${problem}.`))
}

/** The findings contain every warning. */
const ignored = { warn: () => {} }

function hasCustomTexts({ given }: Config): boolean {
  return [...given].some((name) => /^AUTH_MAILER_(SUBJECTS|TEMPLATES)_/.test(name))
}

async function collectProblems(
  { languages, renderer }: Rendering,
  { AUTH_SITE_URL: siteUrl, AUTH_API_EXTERNAL_URL: externalUrl }: Config,
  found: Set<string>,
): Promise<void> {
  for (const tag of languages.available) {
    for (const { kind, problems } of await previewAll(renderer, { siteUrl, externalUrl }, tag)) {
      for (const problem of problems) found.add(`${kind}: ${problem}`)
    }
  }
}
