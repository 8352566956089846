/**
 * The import rules of docs/architecture.md, as a list of what is allowed: any other import fails `npm run check`.
 * Import cycles and undeclared packages are found by Biome, unused files and exports by knip.
 */

/** Sibling folders, lowest first: each may import those before it. A file beside the folders may import all of them. */
const orders = {
  plugins: [
    'observability',
    'localization',
    'database',
    'security',
    'http',
    'outgoing',
    'background',
    'messaging',
  ],
  modules: [
    'audit',
    'otp',
    'flows',
    'emails',
    'sessions',
    'access',
    'admins',
    'usernames',
    'users',
    'credentials',
    'passkeys',
    'factors',
    'identities',
    'organizations',
    'web3',
    'custom-providers',
    'saml',
    'oauth-server',
    'scim',
    'page-session',
    'pages',
    'account',
    'statistics',
    'user-import',
    'settings',
  ],
  db: [
    'tables',
    'core',
    'events',
    'identities',
    'tokens',
    'passkeys',
    'flows',
    'emails',
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
    'organizations',
    'scim',
    'admins',
    'statistics',
    'settings',
    'sessions',
    'admin',
    'limits',
    'replays',
    'custom-providers',
    'saml',
    'oauth-server',
  ],
  config: ['core', 'groups', 'rules'],
}

/** What servers and commands are made of. */
const below = [
  'plugins',
  'modules',
  'config',
  'db',
  'mail',
  'sms',
  'providers',
  'schemas',
  'version.ts',
]

/** What each part may import besides packages and itself. */
const values = {
  'server.ts': ['server', 'config', 'plugins'],
  'cli.ts': ['cli', 'server', 'server.ts', 'version.ts'],
  server: ['routes', ...below],
  cli: ['server', 'server.ts', 'dev', ...below],
  dev: ['server'],
  routes: ['db', 'schemas', 'version.ts'],
  modules: ['db', 'schemas', 'ui'],
  plugins: ['db', 'schemas', 'version.ts'],
  config: ['schemas'],
}

/** Parts of which it may import types as well. The console runs in browsers. */
const types = {
  'cli.ts': ['config'],
  routes: ['plugins', 'config'],
  modules: ['plugins', 'config', 'mail'],
  plugins: ['config'],
  console: ['schemas'],
}

/** Parts whose folders import each other freely. */
const unordered = ['server', 'cli', 'dev', 'schemas', 'mail', 'sms', 'ui', 'console', 'providers']

/** The plugin that owns a concern imports its folder. */
const owners = {
  mail: '^plugins/(messaging/mailer|localization)/',
  sms: '^plugins/messaging/sms/',
  providers: '^plugins/outgoing/oauth-providers/',
}

/** Single files, each with the reason. */
const exceptions = [
  // It makes plugins and is none.
  ['^(plugins/.+|modules/[^/]+/plugin\\.ts$)', 'plugins/define-plugin.ts'],
  // It registers the routes of a group and is no plugin.
  ['^routes/[^/]+/index\\.ts$', 'plugins/register-routes.ts'],
  // The document is served where the OAuth server is switched off, and nothing else of it is loaded there.
  ['^routes/well-known/discovery\\.ts$', 'modules/oauth-server/metadata.ts'],
  // Settings are variables, whose schemas read and check them.
  [
    '^(plugins/security/runtime-settings/index|modules/settings/(change|read))\\.ts$',
    'config/settable.ts',
  ],
  // Operators are shown every variable as its schema describes it.
  ['^modules/settings/read\\.ts$', 'config/groups/index.ts'],
  // Operators are shown every provider that there is.
  ['^modules/settings/read\\.ts$', 'providers/registry.ts'],
  // What SCIM and imports receive must be storable, as every body.
  [
    '^(routes/scim/index|modules/user-import/bulk-record)\\.ts$',
    'plugins/http/body-parser/storable.ts',
  ],
  // Hashes that can be verified are known to the plugin that verifies them.
  ['^modules/user-import/bulk-record\\.ts$', 'plugins/security/passwords/hashes.ts'],
  // Values of unauthenticated clients are shortened in every log line.
  ['^modules/flows/redirects/index\\.ts$', 'plugins/observability/logger/shorten.ts'],
  // Pages for development share one design.
  ['^routes/dev/', 'plugins/http/pages/markup.ts'],
  // Configured URLs are compared with those of messages by one function.
  ['^providers/', 'schemas/values/uris.ts'],
  // One function finds the name that was meant.
  ['^mail/unknown-variables\\.ts$', 'schemas/values/nearest-name.ts'],
  // A provider is added in one place: its variables and its name in emails come from there.
  ['^(config/|plugins/messaging/mailer/renderer\\.ts$)', 'providers/registry.ts'],
  // It validates the configuration on the server's instance.
  ['^plugins/config\\.ts$', 'config/validation-schema.ts'],
  // It maps variables to providers.
  [
    '^(plugins/outgoing/oauth-providers/settings|modules/settings/read)\\.ts$',
    'config/groups/provider-settings.ts',
  ],
  // Each type of email has variables, and a type is added in one place.
  ['^config/(groups/email|gotrue-values)\\.ts$', 'mail/kinds/index.ts'],
  // The default of each subject is a text of the language.
  ['^config/groups/email\\.ts$', 'mail/languages/en.json'],
  // Each type of email has variables for each language, whose names the operator chooses.
  ['^config/(groups/email|groups/index|notices)\\.ts$', 'mail/locale-settings.ts'],
  // A language tag has one canonical form.
  ['^config/core/parsers\\.ts$', 'mail/languages/tags.ts'],
]

/** Loaded in development only, by `import()`. */
const development =
  '^(routes/console/site|routes/dev|plugins/outgoing/oauth-providers/dev-oidc|dev|cli/dev)/'

const inner = '^(db|mail|sms|providers|schemas)/'
const driver = '^plugins/database/driver/'
const typeOnly = { dependencyTypes: ['type-only'] }

const toPattern = (file) => file.replaceAll('.', '\\.')
const part = (name) => (name.endsWith('.ts') ? `^${toPattern(name)}$` : `^${name}/`)

/** Files of a part as others see them: of the database driver, index.ts only. */
const pathTo = (name, more) => ({
  path: part(name),
  ...(name === 'plugins' && { pathNot: `${driver}(?!index\\.ts$)` }),
  ...more,
})

const parts = [
  ...Object.entries(values).flatMap(([from, list]) =>
    list
      // server/app.ts registers modules and groups: below.
      .map((to) => ({
        from: { path: part(from), ...(isRegistered(to) && { pathNot: '^server/app\\.ts$' }) },
        to: pathTo(to),
      })),
  ),
  ...Object.entries(types).flatMap(([from, list]) =>
    list.map((to) => ({ from: { path: part(from) }, to: pathTo(to, typeOnly) })),
  ),
  { from: { path: '^server/app\\.ts$' }, to: { path: '^modules/[^/]+/plugin\\.ts$' } },
  { from: { path: '^server/app\\.ts$' }, to: { path: '^routes/[^/]+/index\\.ts$' } },
  // Of a module, others call only what its index.ts exports.
  { from: { path: '^routes/' }, to: { path: '^modules/[^/]+/index\\.ts$' } },
  // Of providers/, a module imports the library of its own protocol.
  { from: { path: '^modules/([^/]+)/' }, to: { path: '^providers/$1/' } },
  ...Object.entries(owners).map(([to, path]) => ({ from: { path }, to: pathTo(to) })),
  ...exceptions.map(([path, to]) => ({ from: { path }, to: { path: `^${toPattern(to)}$` } })),
]

function isRegistered(to) {
  return to === 'modules' || to === 'routes'
}

const siblings = [
  ...unordered.map((name) => ({ from: { path: part(name) }, to: { path: part(name) } })),
  ...Object.entries(orders).flatMap(([name, order]) => [
    { from: { path: `^${name}/[^/]+$` }, to: pathTo(name) },
    {
      from: { path: `^(${name}/[^/]+)/` },
      to: { path: '^$1/', pathNot: `${driver}(?!index\\.ts$)` },
    },
    ...order.flatMap((own, place, all) => toEarlier(name, own, all.slice(0, place))),
  ]),
  { from: { path: driver }, to: { path: driver } },
  // A group's index, or its list, imports its routes; files of a folder in it, and changes of organizations, share code.
  { from: { path: '^(routes/[^/]+)/(index|routes)\\.ts$' }, to: { path: '^$1/' } },
  { from: { path: '^(routes/[^/]+/.+)/[^/]+$' }, to: { path: '^$1/' } },
  { from: { path: '^routes/organizations/' }, to: { path: '^routes/organizations/change\\.ts$' } },
]

/** A module calls what index.ts of another exports, and may import the types of its files. */
function toEarlier(name, own, earlier) {
  if (earlier.length === 0) return []
  const from = { path: `^${name}/${own}/` }
  const path = `^${name}/(${earlier.join('|')})/`
  if (name !== 'modules') return [{ from, to: { path, pathNot: `${driver}(?!index\\.ts$)` } }]
  return [
    { from, to: { path: `${path}index\\.ts$` } },
    { from, to: { path, ...typeOnly } },
  ]
}

const packages = [
  { from: {}, to: { dependencyTypes: ['core'] } },
  { from: { pathNot: inner }, to: { dependencyTypes: ['npm'] } },
  // The database layer imports the query builder only; no inner part imports Fastify.
  { from: { path: '^db/' }, to: { path: '^node_modules/kysely/' } },
  {
    from: { path: '^(mail|sms|providers|schemas)/' },
    to: {
      path: '^node_modules/',
      pathNot: '^node_modules/(fastify|@fastify/)',
      dependencyTypes: ['npm'],
    },
  },
  // A server runs on what `npm ci --omit=dev` installs.
  { from: { path: development }, to: { dependencyTypes: ['npm-dev'], dynamic: true } },
  { from: { pathNot: inner }, to: { path: '^node_modules/', ...typeOnly } },
]

/** @type {import('dependency-cruiser').IConfiguration} */
export default {
  forbidden: [
    {
      name: 'file-named-after-its-subject',
      severity: 'error',
      from: {},
      to: { path: '(^|/)(helpers?|utils?|misc|common)\\.tsx?$', pathNot: '^node_modules/' },
    },
  ],
  allowed: [...parts, ...siblings, ...packages],
  allowedSeverity: 'error',
  options: {
    parser: 'tsc',
    // Types as well.
    tsPreCompilationDeps: true,
    exclude: { path: '^routes/dev/assets/' },
    doNotFollow: { path: '^node_modules/' },
    skipAnalysisNotInRules: true,
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default', 'types'],
    },
  },
}
