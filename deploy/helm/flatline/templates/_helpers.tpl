{{- define "flatline.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" }}
{{- end }}

{{- define "flatline.fullname" -}}
{{- $name := include "flatline.name" . }}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride | trunc 63 | trimSuffix "-" }}
{{- else if contains $name .Release.Name }}
{{- .Release.Name | trunc 63 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name $name | trunc 63 | trimSuffix "-" }}
{{- end }}
{{- end }}

{{- define "flatline.selectorLabels" -}}
app.kubernetes.io/name: {{ include "flatline.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "flatline.labels" -}}
{{ include "flatline.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{- end }}

{{- /* What the schema cannot say: values that are right alone and wrong together. */ -}}
{{- define "flatline.validate" -}}
{{- $storage := .Values.config.storage | default dict }}
{{- if and (gt (int .Values.replicas) 1) (ne .Values.storage.type "postgresql") }}
{{- fail "replicas: an SQLite file has one writer; set replicas to 1, or storage.type to postgresql" }}
{{- end }}
{{- if and (eq .Values.storage.type "postgresql") (not .Values.storage.postgresql.existingSecret) }}
{{- fail "storage.postgresql.existingSecret: storage.type is postgresql; name the Secret with the database's URL" }}
{{- end }}
{{- range list "path" "url" }}
{{- if hasKey $storage . }}
{{- fail (printf "config.storage.%s: the chart sets the store's place; remove it here and use the values of `storage`" .) }}
{{- end }}
{{- end }}
{{- if hasKey (.Values.config.server | default dict) "listen" }}
{{- fail "config.server.listen: the image listens on port 9640 of all addresses; remove it, and set service.port to have another one" }}
{{- end }}
{{- if and .Values.secret.existing .Values.secret.values }}
{{- fail "secret: it is either `existing` or `values`; remove one of them" }}
{{- end }}
{{- if and .Values.ingress.enabled (not .Values.ingress.host) }}
{{- fail "ingress.host: the Ingress is enabled; name the host under which people reach flatline" }}
{{- end }}
{{- end }}

{{- /* flatline.yaml: `config`, with the store's place. */ -}}
{{- define "flatline.config" -}}
{{- $place := dict "path" "/data/flatline.db" }}
{{- if eq .Values.storage.type "postgresql" }}
{{- $place = dict "url" "${file:/run/secrets/flatline-store/url}" }}
{{- end }}
{{- toYaml (merge (dict "storage" $place) (deepCopy .Values.config)) }}
{{- end }}

{{- define "flatline.image" -}}
{{- .Values.image.repository }}:{{ default .Chart.AppVersion .Values.image.tag }}
{{- with .Values.image.digest }}@{{ . }}{{ end }}
{{- end }}

{{- /* The Secret whose keys are the files of /run/secrets/flatline; empty: there is none. */ -}}
{{- define "flatline.secretName" -}}
{{- if .Values.secret.existing }}
{{- .Values.secret.existing }}
{{- else if .Values.secret.values }}
{{- include "flatline.fullname" . }}
{{- end }}
{{- end }}
