/** The cases of alert-cases.yml as promtool unit tests: each rule firing, and not firing. */
import { parse } from 'yaml'

interface Case {
  /** Of the rule; the name of the case when absent. */
  alert?: string
  minutes: number
  quiet: Record<string, string>
  firing: Record<string, string>
  labels: Record<string, string>
}

interface Rule {
  alert: string
  annotations: Record<string, string>
}

/** `rules` and `cases` are the texts of the files; the result is the input of `promtool test rules`. */
export function promtoolTests(rules: string, cases: string) {
  const annotations = new Map(
    rulesIn(rules).map(({ alert, annotations }) => [alert, annotations] as const),
  )
  const tests = Object.entries<Case>(parse(cases)).flatMap(([name, one]) => {
    const alert = one.alert ?? name
    const output = annotations.get(alert) ?? {}
    const fires = { exp_labels: one.labels, exp_annotations: filled(output, one.labels) }
    return [test(one, one.quiet, alert, []), test(one, one.firing, alert, [fires])]
  })
  return { rule_files: ['alerts.yml'], evaluation_interval: '1m', tests }
}

/** The names of the rules, and of those with a case. */
export function alertNames(rules: string, cases: string) {
  const tested = Object.entries<Case>(parse(cases)).map(([name, { alert = name }]) => alert)
  return { rules: rulesIn(rules).map(({ alert }) => alert), tested: [...new Set(tested)] }
}

function rulesIn(text: string): Rule[] {
  return parse(text).groups.flatMap(({ rules }: { rules: Rule[] }) => rules)
}

function test({ minutes }: Case, series: Record<string, string>, alertname: string, exp: object[]) {
  return {
    interval: '1m',
    input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
    alert_rule_test: [{ eval_time: `${minutes}m`, alertname, exp_alerts: exp }],
  }
}

/** As Prometheus puts labels into the words of an alert. */
function filled(annotations: Record<string, string>, labels: Record<string, string>) {
  const put = (text: string) =>
    text.replace(/\{\{ \$labels\.(\w+) \}\}/g, (_, name) => labels[name] ?? '')
  return Object.fromEntries(Object.entries(annotations).map(([name, text]) => [name, put(text)]))
}
