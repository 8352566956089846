/** The TypeScript language server over the Language Server Protocol, as editors run it. */
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

import { createMessageConnection } from 'vscode-jsonrpc/node'

const root = join(import.meta.dirname, '../..')
const tsc = join(root, 'node_modules/.bin/tsc')

export interface Position {
  /** Path from the root of the repository. */
  file: string
  line: number
  character: number
}

interface Location {
  uri: string
  range: { start: { line: number; character: number } }
}

interface Hover {
  contents: { value: string }
}

/** Starts the server. `stop` ends its process. */
export async function startLanguageServer() {
  const server = spawn(process.execPath, [tsc, '--lsp', '--stdio'], { cwd: root })
  const connection = createMessageConnection(server.stdout, server.stdin)
  connection.onRequest('client/registerCapability', () => null)
  connection.onRequest('workspace/configuration', () => [null])
  connection.listen()
  await connection.sendRequest('initialize', {
    processId: process.pid,
    rootUri: pathToFileURL(root).href,
    capabilities: { textDocument: { hover: { contentFormat: ['markdown'] } } },
  })
  await connection.sendNotification('initialized', {})

  const send = <Result>(method: string, position: Position, more: object = {}): Promise<Result> =>
    connection.sendRequest<Result>(`textDocument/${method}`, { ...toParams(position), ...more })

  return {
    async open(file: string): Promise<void> {
      const textDocument = {
        uri: toUri(file),
        languageId: 'typescript',
        version: 1,
        text: read(file),
      }
      await connection.sendNotification('textDocument/didOpen', { textDocument })
    },
    async definitions(position: Position): Promise<Position[]> {
      const found = await send<Location | Location[] | null>('definition', position)
      return [found ?? []].flat().map(toPosition)
    },
    async references(position: Position): Promise<Position[]> {
      const context = { includeDeclaration: false }
      return ((await send<Location[] | null>('references', position, { context })) ?? []).map(
        toPosition,
      )
    },
    async hover(position: Position): Promise<string> {
      return (await send<Hover | null>('hover', position))?.contents.value ?? ''
    },
    stop(): void {
      connection.dispose()
      server.kill()
    },
  }
}

/** Where `name(` is called first in the file. Throws an Error when it is not. */
export function findCall(file: string, name: string): Position {
  const lines = read(file).split('\n')
  const line = lines.findIndex((text) => new RegExp(`(?<!function )\\b${name}\\(`).test(text))
  if (line < 0) throw new Error(`${file} does not call ${name}`)
  return { file, line, character: lines[line]?.search(new RegExp(`\\b${name}\\(`)) ?? 0 }
}

const read = (file: string) => readFileSync(join(root, file), 'utf8')

const toUri = (file: string) => pathToFileURL(join(root, file)).href

const toParams = ({ file, line, character }: Position) => ({
  textDocument: { uri: toUri(file) },
  position: { line, character },
})

const toPosition = ({ uri, range: { start } }: Location): Position => ({
  file: fileURLToPath(uri).slice(root.length + 1),
  ...start,
})
