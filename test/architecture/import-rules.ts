/** The import rules: the table of docs/architecture.md. */
import { dirname } from 'node:path'

interface ImportEdge {
  from: string
  to: string
  typeOnly: boolean
}

/** Sibling folders, lowest first: each may import those before it. */
export const orders: Record<string, readonly string[]> = {
  plugins: [
    ...['observability', 'localization', 'database', 'security', 'http', 'outgoing'],
    ...['background', 'messaging'],
  ],
  modules: [
    ...[
      'audit',
      'otp',
      'flows',
      'emails',
      'sessions',
      'admins',
      'usernames',
      'users',
      'credentials',
      'passkeys',
    ],
    ...['factors', 'identities', 'organizations', 'web3', 'custom-providers'],
    ...['saml', 'oauth-server', 'scim'],
    ...['page-session', 'pages', 'account', 'statistics', 'user-import', 'settings'],
  ],
  db: [
    ...['tables', 'core', 'events', 'identities', 'tokens', 'passkeys', 'flows', 'emails'],
    ...[
      'migrations',
      'gotrue',
      'audit',
      'jobs',
      'keys',
      'cleanup',
      'users',
      'usernames',
      'migrate',
      'factors',
    ],
    ...[
      'organizations',
      'scim',
      'admins',
      'statistics',
      'settings',
      'sessions',
      'admin',
      'limits',
      'replays',
      'web3',
      'custom-providers',
      'saml',
      'oauth-server',
    ],
  ],
  config: ['core', 'groups', 'rules'],
}

interface Rule {
  values: readonly string[]
  /** Parts whose types it may import as well. */
  types?: readonly string[]
}

const below = ['config', 'db', 'mail', 'sms', 'providers', 'schemas', 'version.ts']

/** What each part may import besides packages and itself. */
const rules: Record<string, Rule> = {
  'server.ts': { values: ['server', 'config', 'plugins'] },
  'cli.ts': { values: ['cli', 'server', 'server.ts'], types: ['config'] },
  'version.ts': { values: [] },
  server: { values: ['plugins', 'modules', 'routes', ...below] },
  cli: { values: ['server', 'server.ts', 'dev', 'modules', 'plugins', ...below] },
  dev: { values: ['server'] },
  routes: { values: ['modules', 'db', 'schemas', 'version.ts'], types: ['plugins', 'config'] },
  modules: { values: ['db', 'schemas', 'ui'], types: ['plugins', 'config', 'mail'] },
  plugins: {
    values: ['db', 'mail', 'sms', 'providers', 'schemas', 'version.ts'],
    types: ['config'],
  },
  config: { values: ['schemas'] },
  schemas: { values: [] },
  db: { values: [] },
  mail: { values: [] },
  sms: { values: [] },
  ui: { values: [] },
  // Runs in browsers: it imports the API’s schemas from the server only.
  console: { values: [], types: ['schemas'] },
  providers: { values: [] },
}

/** Of the plugins, only the owner of a concern imports its folder. */
const owners: Record<string, RegExp> = {
  mail: /^plugins\/(messaging\/mailer|localization)\//,
  sms: /^plugins\/messaging\/sms\//,
  providers: /^plugins\/outgoing\/oauth-providers\//,
}

/** Folders of which other folders import index.ts only. */
const packages = ['plugins/database/driver/']

/** Exceptions for single files, each with its reason. */
export const exceptions: { from: RegExp; to: string; why: string }[] = [
  {
    from: /^modules\/[^/]+\/plugin\.ts$/,
    to: 'plugins/define-plugin.ts',
    why: 'it makes plugins and is none',
  },
  {
    from: /^routes\/[^/]+\/index\.ts$/,
    to: 'plugins/register-routes.ts',
    why: 'it registers the routes of a group and is no plugin',
  },
  {
    from: /^routes\/well-known\/openid-configuration\.ts$/,
    to: 'modules/oauth-server/metadata.ts',
    why: 'the document is served where the OAuth server is switched off, and nothing else of it is loaded there',
  },
  {
    from: /^(plugins\/security\/runtime-settings\/index|modules\/settings\/(change|read))\.ts$/,
    to: 'config/settable.ts',
    why: 'settings are variables, whose schemas read and check them',
  },
  {
    from: /^modules\/settings\/read\.ts$/,
    to: 'config/groups/index.ts',
    why: 'operators are shown every variable as its schema describes it',
  },
  {
    from: /^modules\/settings\/providers\.ts$/,
    to: 'providers/registry.ts',
    why: 'operators are shown every provider that there is',
  },
  {
    from: /^routes\/scim\/v2\/parse-body\.ts$/,
    to: 'plugins/http/body-parser/storable.ts',
    why: 'attributes keep their case and null, and must be storable as every body',
  },
  {
    from: /^modules\/user-import\/bulk-record\.ts$/,
    to: 'plugins/http/body-parser/storable.ts',
    why: 'what a file holds must be storable, as what a body holds',
  },
  {
    from: /^modules\/user-import\/bulk-record\.ts$/,
    to: 'plugins/security/passwords/hashes.ts',
    why: 'hashes that can be verified are known to the plugin that verifies them',
  },
  {
    from: /^modules\/flows\/redirects\/index\.ts$/,
    to: 'plugins/observability/logger/shorten.ts',
    why: 'values of unauthenticated clients are shortened in every log line',
  },
  {
    from: /^routes\/dev\//,
    to: 'plugins/http/pages/markup.ts',
    why: 'pages for development share one design',
  },
  {
    from: /^(config\/|plugins\/messaging\/mailer\/renderer\.ts$)/,
    to: 'providers/registry.ts',
    why: 'a provider is added in one place: its variables and its name in emails come from there',
  },
  {
    from: /^plugins\/config\.ts$/,
    to: 'config/validation-schema.ts',
    why: 'it validates the configuration on the server’s instance',
  },
  {
    from: /^(plugins\/outgoing\/oauth-providers\/settings|modules\/settings\/providers)\.ts$/,
    to: 'config/groups/provider-settings.ts',
    why: 'it maps variables to providers',
  },
  {
    from: /^config\/(groups\/email|gotrue-defaults)\.ts$/,
    to: 'mail/kinds/index.ts',
    why: 'each type of email has variables, and a type is added in one place',
  },
  {
    from: /^config\/groups\/email\.ts$/,
    to: 'mail/languages/en.json',
    why: 'the default of each subject is a text of the language',
  },
  {
    from: /^config\/(groups\/index|groups\/mail-locales|notices)\.ts$/,
    to: 'mail/locale-settings.ts',
    why: 'each type of email has variables for each language, whose names the operator chooses',
  },
  {
    from: /^config\/core\/parse-locales\.ts$/,
    to: 'mail/languages/tag.ts',
    why: 'a language tag has one canonical form',
  },
]

/** The reason why an import is forbidden; undefined when it is allowed. */
export function objection(edge: ImportEdge): string | undefined {
  const { from, to, typeOnly } = edge
  const [source, target] = [findPart(from), findPart(to)]
  if (!source || !target) return `${source ? to : from} is no part of the server`
  if (exceptions.some((exception) => exception.from.test(from) && exception.to === to)) return
  if (packages.some((folder) => to.startsWith(folder) && !from.startsWith(folder))) {
    return indexObjection(to)
  }
  if (source === 'routes' && target === 'routes') return routeObjection(from, to)
  if (from === 'server/app.ts' && target === 'routes') return indexObjection(to)
  if (from === 'server/app.ts' && target === 'modules') return pluginObjection(to)
  if (source === 'routes' && target === 'modules') return indexObjection(to)
  if (source === target) return orderObjection(edge, source)
  if (source === 'modules' && target === 'providers') return protocolObjection(from, to)
  const owner = source === 'plugins' ? owners[target] : undefined
  if (owner && !owner.test(from)) return `of the plugins, only ${owner.source} imports ${target}`
  const { values = [], types = [] } = rules[source] ?? {}
  const allowed = typeOnly ? [...values, ...types] : values
  return allowed.includes(target) ? undefined : `${source} does not import ${target}`
}

/** A group’s index imports its routes, and files in a path’s folder import each other; a route imports no route. */
function routeObjection(from: string, to: string): string | undefined {
  const folder = dirname(from)
  const isBelow = to.startsWith(`${folder}/`)
  const isGroup = folder.split('/').length === 2
  const isRoute = isGroup && !from.endsWith('/index.ts') && !from.startsWith('routes/dev/')
  return isBelow && !isRoute ? undefined : 'a route never imports a route'
}

/** Of a module, a package or a group of routes, others call only what its index.ts exports. */
function indexObjection(to: string): string | undefined {
  return to.endsWith('/index.ts')
    ? undefined
    : 'only index.ts of a module, package or group is imported'
}

/** The server registers the plugin of a module; its functions are imported by their callers. */
function pluginObjection(to: string): string | undefined {
  return to.endsWith('/plugin.ts') ? undefined : 'only plugin.ts of a module is registered'
}

/** Of providers/, a module imports the folder of its own name alone: the library of its protocol. */
function protocolObjection(from: string, to: string): string | undefined {
  const [own, other] = [from, to].map((path) => path.split('/')[1])
  return own === other ? undefined : `modules/${own} does not import providers/${other}`
}

/** Sibling folders import each other in one direction. */
function orderObjection({ from, to, typeOnly }: ImportEdge, part: string): string | undefined {
  const order = orders[part]
  const [own, other] = [from, to].map((path) => path.split('/')[1] ?? '')
  if (order === undefined || own === other || own === undefined || other === undefined) return
  // A file directly in the parent is above its folders, except the plugin factory.
  if (own.endsWith('.ts') || to === 'plugins/define-plugin.ts') return
  if (!order.includes(own) || !order.includes(other)) return `${part}/${own} is not in the order`
  if (order.indexOf(other) > order.indexOf(own)) return `${part}/${own} is below ${part}/${other}`
  if (part === 'modules' && !typeOnly) return indexObjection(to)
}

export function findPart(path: string): string | undefined {
  const [first = ''] = path.split('/')
  return Object.hasOwn(rules, first) ? first : undefined
}
