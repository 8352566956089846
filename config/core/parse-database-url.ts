/**
 * Accepts every connection string of libpq and pgx: URIs or keywords (`host=db user=postern`), several hosts, host and
 * port as parameters, socket directories. The result is one form that the URL parser and pg understand: the first host
 * as the host, and all of several hosts in a parameter of our own.
 */
import { hostsParameter } from '../../schemas/connection-string.ts'

interface Endpoint {
  /** A name, an IP address, or a socket directory. */
  host: string
  port: string
}

interface Parts {
  user: string
  password: string
  endpoints: Endpoint[]
  database: string
  parameters: [name: string, value: string][]
}

/** Undefined for an invalid string; a string in this form is returned unchanged. */
export function databaseUrl(text: string): string | undefined {
  const isAddress = /^postgres(ql)?:\/\//i.test(text)
  // An unencoded `#` in a password would cut off the rest.
  if (isAddress && text.includes('#')) return undefined
  try {
    const parts = isAddress ? fromAddress(text) : fromKeywords(text)
    if (!parts) return undefined
    const url = isAddress && isPlain(text, parts) ? text : toUrl(parts)
    return URL.canParse(url) ? url : undefined
  } catch {
    // An invalid percent-encoding.
    return undefined
  }
}

/** One in any form, or several URIs separated by commas or blanks; undefined if one is invalid. */
export function databaseUrls(text: string): string[] | undefined {
  const urls = text.split(/[\s,]+(?=postgres(?:ql)?:\/\/)/i).map((part) => databaseUrl(part.trim()))
  return urls.every((url) => url !== undefined) ? urls : undefined
}

const addressForm = /^postgres(?:ql)?:\/\/(?:([^/?]*)@)?([^/?@]*)(?:\/([^?]*))?(?:\?(.*))?$/i

function fromAddress(text: string): Parts | undefined {
  const [start, userInfo = '', authority = '', path = '', query = ''] = addressForm.exec(text) ?? []
  if (start === undefined) return undefined
  const colon = userInfo.indexOf(':')
  const [user, password] =
    colon < 0 ? [userInfo, ''] : [userInfo.slice(0, colon), userInfo.slice(colon + 1)]
  return withParameters({
    user: decodeURIComponent(user),
    password: decodeURIComponent(password),
    endpoints: authority === '' ? [] : authority.split(',').map(readEndpoint),
    database: decodeURIComponent(path),
    // A plus is a blank in a form, but literal in a libpq URI.
    parameters: [...new URLSearchParams(query.replaceAll('+', '%2B'))],
  })
}

function readEndpoint(text: string): Endpoint {
  const [, host = '', port = ''] = /^(\[[^\]]+\]|[^:]*)(?::(\d*))?$/.exec(text) ?? []
  if (host === '' && port === '' && text !== '') throw new Error('not a host')
  return { host: decodeURIComponent(host), port }
}

/** `host=db port=5432 password='a b'` (libpq's keyword/value connection strings). */
function fromKeywords(text: string): Parts | undefined {
  const pair = /\s*(\w+)\s*=\s*('(?:\\.|[^'\\])*'|(?:\\.|[^\s'\\])*)(?=\s|$)/y
  const parameters: Parts['parameters'] = []
  while (pair.lastIndex < text.trimEnd().length) {
    const [, name, value = ''] = pair.exec(text) ?? []
    if (name === undefined) return undefined
    const bare = value.startsWith("'") ? value.slice(1, -1) : value
    parameters.push([name, bare.replaceAll(/\\(.)/g, '$1')])
  }
  if (parameters.length === 0) return undefined
  return withParameters({ user: '', password: '', endpoints: [], database: '', parameters })
}

/** Parameters take precedence, as in libpq. */
function withParameters({ parameters, ...parts }: Parts): Parts {
  const given = new Map(parameters)
  const hosts = given.get('host') || given.get('hostaddr')
  const ports = given.get('port')?.split(',') ?? []
  const named = hosts ? hosts.split(',').map((host) => ({ host, port: '' })) : parts.endpoints
  const getPort = (at: number) => (ports.length > 1 ? ports[at] : ports[0])
  const endpoints = named.map(({ host, port }, at) => ({ host, port: getPort(at) || port }))
  const rest = new Set(['host', 'hostaddr', 'port', 'dbname', 'user', 'password'])
  return {
    user: given.get('user') ?? parts.user,
    password: given.get('password') ?? parts.password,
    endpoints: endpoints.length === 0 && ports[0] ? [{ host: '', port: ports[0] }] : endpoints,
    database: given.get('dbname') ?? parts.database,
    parameters: parameters.filter(([name]) => !rest.has(name)),
  }
}

/** A single host, which the URL parser handles. */
function isPlain(text: string, { endpoints }: Parts): boolean {
  const url = URL.parse(text)
  const moved = ['host', 'hostaddr', 'port', 'dbname']
  return url !== null && endpoints.length <= 1 && !moved.some((name) => url.searchParams.has(name))
}

function toUrl(parts: Parts): string {
  const { user, password, endpoints, database, parameters } = parts
  const [first = { host: '', port: '' }] = endpoints
  const hosts: Parts['parameters'] =
    endpoints.length > 1 ? [[hostsParameter, endpoints.map(formatHost).join()]] : []
  const path = encodeURIComponent(database)
  if (first.host !== '' && !first.host.startsWith('/')) {
    const login = [user, password].map(encodeURIComponent).join(':')
    return `postgres://${login}@${formatHost(first)}/${path}${formatQuery([...hosts, ...parameters])}`
  }
  // The URL parser rejects a user without a host.
  const { host, port } = first
  const named: Parts['parameters'] = [
    ...Object.entries({ host, port, user, password }),
    ...hosts,
    ...parameters,
  ]
  return `postgres:///${path}${formatQuery(named)}`
}

function formatQuery(parameters: Parts['parameters']): string {
  const pairs = parameters.filter(([, value]) => value !== '')
  if (pairs.length === 0) return ''
  return `?${pairs.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join('&')}`
}

function formatHost({ host, port }: Endpoint): string {
  return port === '' ? host : `${host}:${port}`
}
