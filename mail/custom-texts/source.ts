/** The source of a custom text: the setting itself, a file, or a web server. */
import { resolve, sep } from 'node:path'

export type Source =
  | { from: 'setting'; text: string }
  | { from: 'file'; path: string }
  | { from: 'url'; url: string }

export interface Places {
  siteUrl: string
  /** AUTH_TEMPLATES_DIR */
  folder: string | undefined
}

/**
 * A value that begins like a template is one. A value with `http` is a URL, one with a leading slash a path on the
 * site; any other is a file of the folder or, without a folder, a path on the site. Throws an Error for a file outside
 * of the folder.
 */
export function parseTextSource(setting: string, { siteUrl, folder }: Places): Source {
  if (/^(<|\{\{)/.test(setting)) return { from: 'setting', text: setting }
  if (/^https?:/i.test(setting)) return { from: 'url', url: setting }
  if (folder !== undefined && !setting.startsWith('/')) {
    return { from: 'file', path: pathBelow(folder, setting) }
  }
  return { from: 'url', url: `${siteUrl.replace(/\/+$/, '')}/${setting.replace(/^\/+/, '')}` }
}

function pathBelow(folder: string, name: string): string {
  const path = resolve(folder, name)
  if (path.startsWith(resolve(folder) + sep)) return path
  throw new Error(`${name} is outside AUTH_TEMPLATES_DIR`)
}
