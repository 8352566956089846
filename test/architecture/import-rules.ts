/** Who may import whom: the table of docs/architecture.md. */
import { dirname } from 'node:path'

export interface ImportOf {
  from: string
  to: string
  typeOnly: boolean
}

type Layer = keyof typeof rules

/** What each layer may import at run time besides packages and itself; `types` are what it may name besides. */
const rules = {
  'app.ts': { values: ['routes', 'accounts', 'plugins', 'config'], types: [] },
  'server.ts': { values: ['app.ts', 'cli', 'plugins', 'config'], types: [] },
  cli: {
    values: [
      ...['app.ts', 'server.ts', 'accounts', 'plugins', 'config', 'db', 'mail', 'sms', 'providers'],
      ...['schemas', 'errors.ts', 'version.ts'],
    ],
    types: [],
  },
  routes: {
    values: ['db', 'schemas', 'errors.ts', 'version.ts'],
    types: ['accounts', 'plugins', 'config'],
  },
  // The types of mail/ say what each kind of mail is told.
  accounts: { values: ['db', 'schemas', 'errors.ts'], types: ['plugins', 'config', 'mail'] },
  plugins: {
    values: ['db', 'mail', 'sms', 'providers', 'schemas', 'errors.ts', 'version.ts'],
    types: ['config'],
  },
  config: { values: ['schemas'], types: [] },
  db: { values: [], types: [] },
  mail: { values: [], types: [] },
  sms: { values: [], types: [] },
  providers: { values: [], types: [] },
  // What a field refuses, it refuses by the one catalogue, which itself imports nothing.
  schemas: { values: ['errors.ts'], types: [] },
  'errors.ts': { values: [], types: [] },
  'version.ts': { values: [], types: [] },
} satisfies Record<string, { values: string[]; types: string[] }>

/** Of the plugins, only that of the same concern reaches into these. */
const owners: Record<string, RegExp> = {
  // What languages say is for mails before all else.
  mail: /^plugins\/(mailer|languages)(\.ts|\/)/,
  sms: /^plugins\/sms(\.ts|\/)/,
  providers: /^plugins\/oauth-providers(\.ts|\/)/,
}

/** Single files that are needed across a border, and why. */
export const exceptions: { from: RegExp; to: string; why: string }[] = [
  {
    from: /^plugins\/accounts\/[^/]+\/index\.ts$/,
    to: 'plugins/define-plugin.ts',
    why: 'it makes plugins and is none',
  },
  {
    from: /^routes\/[^/]+\/index\.ts$/,
    to: 'plugins/register-all.ts',
    why: 'it registers plugins and is none',
  },
  {
    from: /^plugins\/accounts\/flows\/redirects\.ts$/,
    to: 'plugins/logger/shorten.ts',
    why: 'what strangers send is shortened alike in every line',
  },
  {
    from: /^routes\/dev\//,
    to: 'plugins/pages/markup.ts',
    why: 'pages of development look alike, whoever serves them',
  },
  {
    from: /^plugins\/(config\/|mailer\/renderer\.ts$)/,
    to: 'providers/registry.ts',
    why: 'a provider is added in one place: its variables and its name in mails come from there',
  },
  {
    from: /^plugins\/oauth-providers\/settings\.ts$/,
    to: 'plugins/config/provider-settings.ts',
    why: 'it knows which variables belong to which provider',
  },
  {
    from: /^plugins\/config\/groups\/email\.ts$/,
    to: 'mail/kinds.ts',
    why: 'each kind of mail has variables, and a kind is added in one place',
  },
  {
    from: /^plugins\/config\/groups\/email\.ts$/,
    to: 'mail/languages/en.json',
    why: 'the default of each subject is a text of the language',
  },
  {
    from: /^plugins\/config\/(config|mail-locales|notices)\.ts$/,
    to: 'mail/locale-settings.ts',
    why: 'each kind of mail has variables for each language, whose names only the operator knows',
  },
  {
    from: /^plugins\/config\/parse-locales\.ts$/,
    to: 'mail/languages/tag.ts',
    why: 'a language is spelled in one way',
  },
]

/** Why an import is forbidden; undefined when it is allowed. */
export function objection(asked: ImportOf): string | undefined {
  const { from, to, typeOnly } = asked
  const [source, target] = [layerOf(from), layerOf(to)]
  if (!source || !target) return `${source ? to : from} is no part of the server`
  if (exceptions.some((exception) => exception.from.test(from) && exception.to === to)) return
  if (source === 'routes' && target === 'routes') return routeObjection(from, to)
  if (source === 'app.ts') return appObjection(to)
  if (source === 'accounts' && target === 'accounts') return nounObjection(asked)
  if (source === target) return undefined
  const owner = source === 'plugins' ? owners[target] : undefined
  if (owner && !owner.test(from)) return `of the plugins, only ${owner.source} imports ${target}`
  const { values, types }: { values: string[]; types: string[] } = rules[source]
  const allowed = typeOnly ? [...values, ...types] : values
  return allowed.includes(target) ? undefined : `${source} does not import ${target}`
}

/** A group's index imports its routes, and files of a folder for one path each other; a route imports no route. */
function routeObjection(from: string, to: string): string | undefined {
  const folder = dirname(from)
  const isBelow = to.startsWith(`${folder}/`)
  const isGroup = folder.split('/').length === 2
  const isRoute = isGroup && !from.endsWith('/index.ts') && !from.startsWith('routes/dev/')
  return isBelow && !isRoute ? undefined : 'a route never imports a route'
}

/** The map names whole rooms: of a noun or a group the index. */
function appObjection(to: string): string | undefined {
  const layer = layerOf(to)
  if (layer !== 'routes' && layer !== 'accounts') return
  return to.endsWith('/index.ts') ? undefined : 'app.ts imports nouns and groups whole'
}

function nounObjection({ from, to, typeOnly }: ImportOf): string | undefined {
  const [own, other] = [from, to].map((path) => path.split('/')[2])
  if (typeOnly || own === other) return undefined
  return 'a noun reaches another noun through the instance'
}

export function layerOf(path: string): Layer | undefined {
  if (path === 'cli.ts') return 'cli'
  // The bare instance is a part of the map that has a file of its own.
  if (path === 'instance.ts') return 'app.ts'
  if (path.startsWith('plugins/accounts/')) return 'accounts'
  if (path.startsWith('plugins/config/')) return 'config'
  const [first = ''] = path.split('/')
  return isLayer(first) ? first : undefined
}

function isLayer(name: string): name is Layer {
  return Object.hasOwn(rules, name)
}
