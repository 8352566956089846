/** The structured log: one JSON object a line, without secrets, addresses of people or query strings. */
import { closeSync, existsSync, mkdirSync, openSync } from 'node:fs'
import { dirname } from 'node:path'

import type { FastifyBaseLogger } from 'fastify'
import pino, { type DestinationStream } from 'pino'

import { version } from '../version.ts'
import { logFields } from './context.ts'
import { serializeError, shortenFields, shortenMessage } from './logger/shorten.ts'

/** Replaced in every line, in case one is logged by mistake: nothing logs these on purpose. */
const secretFields = [
  'password',
  'token',
  'token_hash',
  'access_token',
  'refresh_token',
  'code',
  'nonce',
  'secret',
  'authorization',
  'apikey',
  'email',
  'phone',
]

export interface LoggerOptions {
  /** One of panic, fatal, error, warn, info, debug. */
  level: string
  /** Appended to instead of standard output. */
  file?: string | undefined
  /** Other processes write to the same output. */
  isShared?: boolean
}

export interface Logger {
  log: FastifyBaseLogger
  /** Opens the log file anew, after it was moved away. */
  reopen(): void
}

/** Lines are written many at a time: a system call for each would be a tenth of a short request's cost. */
const buffering = {
  sync: false,
  /** Milliseconds after which few lines are written as well. */
  periodicFlush: 100,
}
/** Bytes that wait for a full disk, or for whoever reads slowly; further lines are lost. */
const mostWaiting = 16 * 2 ** 20
/** Characters that are collected before they are written. */
const fewCharacters = 12_288
/** Where several processes share a pipe, up to 4 KiB stay in one piece. */
const fewSharedCharacters = 2_048

/** What is not written yet when the process ends is written then. Throws, in one sentence, where the file cannot be. */
export function createLogger({ level, file, isShared = false }: LoggerOptions): Logger {
  if (file !== undefined) checkWritable(file)
  const to = file ? { dest: file } : { fd: process.stdout.fd }
  const minLength = isShared ? fewSharedCharacters : fewCharacters
  const destination = pino.destination({
    ...to,
    ...buffering,
    minLength,
    maxLength: mostWaiting,
  })
  const log = createPino(level, destination)
  outlastFullDisk(destination, log)
  return { log, reopen: () => file && reopen(file, destination, log) }
}

/** Left alone, a line that cannot be written ends the process, and whoever writes the last ones tries for ever. */
function outlastFullDisk(
  destination: ReturnType<typeof pino.destination>,
  log: FastifyBaseLogger,
): void {
  let isFailing = false
  let lost = 0
  destination.on('error', (error: NodeJS.ErrnoException) => {
    // Nobody reads any more, and nobody is to be told.
    if (isFailing || error.code === 'EPIPE') return
    isFailing = true
    console.error(`The log cannot be written (${error.message}). The server goes on; lines wait.`)
  })
  destination.on('drop', () => {
    lost += 1
  })
  destination.on('write', () => {
    isFailing = false
  })
  destination.on('drain', () => {
    if (lost > 0) log.error({ lost }, 'lines were lost while the log could not be written')
    lost = 0
  })
  const flushSync = destination.flushSync.bind(destination)
  destination.flushSync = () => {
    if (!isFailing) flushSync()
  }
}

function reopen(file: string, destination: { reopen(): void }, log: FastifyBaseLogger): void {
  try {
    checkWritable(file)
    destination.reopen()
  } catch (error) {
    log.error({ err: error }, 'the log file cannot be opened anew: lines go on into the old one')
  }
}

/** Makes the file, and the folder it lies in. Not the folders above it: below /proc, Node would try that for ever. */
function checkWritable(file: string): void {
  try {
    if (!existsSync(dirname(file))) mkdirSync(dirname(file))
    closeSync(openSync(file, 'a'))
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new Error(
      `AUTH_LOG_FILE cannot be written (${reason}): name a file in a folder that this user may write to.`,
    )
  }
}

export function createPino(level: string, destination: DestinationStream): FastifyBaseLogger {
  const options = {
    // The specification's highest level, which pino has under another name.
    level: level === 'panic' ? 'fatal' : level,
    redact: { paths: secretFields.flatMap((field) => [field, `*.${field}`]), censor: '[redacted]' },
    formatters: { level: (name: string) => ({ level: name }), log: shortenFields },
    serializers: { err: serializeError, msg: shortenMessage },
    base: { version },
    mixin: logFields,
    // The other order than pino's own, which would write into what the mixin returned.
    mixinMergeStrategy: (line: object, fields: object) => ({ ...fields, ...line }),
    timestamp: pino.stdTimeFunctions.isoTime,
  }
  return pino(options, destination)
}
